from .automaton_pictures import stream_picture
from .document_nodes import read_document
from .document_writing import document, write_question
from .model_drawing import dot, svg
from .model_file_schema import model_schema, model_schema_text
from .model_files import question_from_document, read_question

__all__ = [
    "document",
    "dot",
    "model_schema",
    "model_schema_text",
    "question_from_document",
    "read_document",
    "read_question",
    "stream_picture",
    "svg",
    "write_question",
]
