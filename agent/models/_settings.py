"""A model as an experiment names it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["REFERENCE_PREFIX", "ModelSettings"]

REFERENCE_PREFIX = "reference/"


class ModelSettings(BaseModel):
    """One model with its endpoint and sampling parameters.

    `name` is sent as `model`. A name that starts with `reference/` is a reference model:
    a program served by a local endpoint, labelled as such everywhere.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    name: str = Field(min_length=1)
    label: str | None = Field(default=None, description="how tables show it; the name if absent")
    base_url: str | None = Field(default=None, description="else OPENAI_BASE_URL, else OpenAI's")
    api_key_env: str = Field(default="OPENAI_API_KEY", description="variable that holds the key")
    temperature: float | None = Field(default=None, ge=0)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1)
    max_tokens_parameter: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    seeded: bool | None = Field(
        default=None, description="send a seed per trial; by default only to reference models"
    )
    parameters: dict[str, float | int | str] = Field(
        default_factory=dict, description="parameters of a reference model"
    )
    extra_body: dict[str, Any] = Field(
        default_factory=dict, description="further fields of the request (provider, reasoning, …)"
    )

    @property
    def is_reference(self) -> bool:
        """Whether this is a program of known competence, not a language model."""
        return self.name.startswith(REFERENCE_PREFIX)

    @property
    def sends_seed(self) -> bool:
        """Whether each request carries a seed."""
        return self.is_reference if self.seeded is None else self.seeded

    @property
    def shown_as(self) -> str:
        """The name in tables and records."""
        return self.label or self.name

    def identity(self) -> dict[str, Any]:
        """What makes a trial of this model that trial: name and sampling, not the address."""
        fields = self.model_dump(
            exclude={"label", "base_url", "api_key_env", "seeded", "max_tokens_parameter"},
            exclude_none=True,
            exclude_defaults=True,
        )
        return {"name": self.name, **fields}
