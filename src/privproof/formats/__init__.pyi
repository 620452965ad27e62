from .documents import read_document
from .drawing import dot, svg
from .model_files import model_from_document, question_from_document, read_model, read_question
from .pictures import stream_picture
from .schema import model_schema, model_schema_text
from .writing import document, model_document, write_question

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
