"""`python -m llm_modulo`: the same as the `llm-modulo` command."""

from llm_modulo.cli import main

if __name__ == "__main__":
    main()
