"""What is planned about: instances with certificates, rules, verdicts, bundled PDDL."""

from ._benchmark import (
    BENCHMARKS,
    Benchmark,
    Certification,
    MoveText,
    benchmark_names,
    find_benchmark,
    instances,
)
from ._bundled import bundled_domain, bundled_domains
from ._certify import certify
from ._instance import Instance, instance_id, read_instances, write_instances
from ._verdict import PlanVerdict, Unparsed, Verdict

__all__ = [
    "BENCHMARKS",
    "Benchmark",
    "Certification",
    "Instance",
    "MoveText",
    "PlanVerdict",
    "Unparsed",
    "Verdict",
    "benchmark_names",
    "bundled_domain",
    "bundled_domains",
    "certify",
    "find_benchmark",
    "instance_id",
    "instances",
    "read_instances",
    "write_instances",
]
