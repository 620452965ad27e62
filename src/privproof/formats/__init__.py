"""Files in and out (model files, their schema, drawings): imports `scenarios` and above; `cli` and users import it."""

from privproof.formats.documents import read_document
from privproof.formats.drawing import dot, svg
from privproof.formats.model_files import model_from_document, question_from_document, read_model, read_question
from privproof.formats.pictures import stream_picture
from privproof.formats.schema import model_schema, model_schema_text
from privproof.formats.writing import document, model_document, write_question

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
