from .automaton_pictures import stream_picture
from .document_nodes import read_document
from .document_writing import document, model_document, write_question
from .model_drawing import dot, svg
from .model_file_schema import model_schema, model_schema_text
from .model_files import model_from_document, question_from_document, read_model, read_question

__all__ = [
    "document",
    "dot",
    "model_document",
    "model_from_document",
    "model_schema",
    "model_schema_text",
    "question_from_document",
    "read_document",
    "read_model",
    "read_question",
    "stream_picture",
    "svg",
    "write_question",
]
