"""docs/diagnostics.md is what the registry of codes says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_is_in_step_with_the_registry() -> None:
    script = ROOT / "scripts" / "diagnostics_page.py"
    made = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8") == made.stdout
