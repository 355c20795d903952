"""Arguments that are PDDL: text, or `bundled:NAME` for a domain that comes with us."""

from __future__ import annotations

from llm_modulo.domains import bundled_domain

__all__ = ["DOMAIN", "PROBLEM", "domain_text"]

DOMAIN = "whole text of the PDDL domain, `(define (domain …) …)`, or bundled:NAME"
PROBLEM = "whole text of the PDDL problem, `(define (problem …) …)`"
_PREFIX = "bundled:"


def domain_text(domain: str) -> str:
    """The text that a `domain` argument stands for.

    Raises:
        UsageError: no bundled domain has this name.
    """
    if not domain.strip().startswith(_PREFIX):
        return domain
    return bundled_domain(domain.strip().removeprefix(_PREFIX))
