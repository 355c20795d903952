"""Reference models: programs of known competence behind the OpenAI protocol.

For machines with no key and no network, for tests, and to calibrate statistics. They are
never called language models. Third parties add one by an entry point in the group
`llm_modulo.reference_models` that loads a class with the interface of `ReferenceModel`.
"""

from ._endpoint import create_app
from ._models import REFERENCE_MODELS, ReferenceModel, find_reference_model
from ._process import reference_endpoint
from ._request import Reply, Request, UnreadablePrompt

__all__ = [
    "REFERENCE_MODELS",
    "ReferenceModel",
    "Reply",
    "Request",
    "UnreadablePrompt",
    "create_app",
    "find_reference_model",
    "reference_endpoint",
]
