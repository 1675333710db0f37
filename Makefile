# The two commands of the README, and the checks. Everything is set up on first use and left alone afterwards.
PYTHON ?= python3
PY := .venv/bin/python

.PHONY: run test check format setup setup-dev

run: setup
	@exec $(PY) manage.py serve --demo

setup:
	@$(PYTHON) -m evalstudio.bootstrap requirements.txt

setup-dev:
	@$(PYTHON) -m evalstudio.bootstrap requirements-dev.txt

# On SQLite; `make test DB=postgres` starts a PostgreSQL of its own for it.
BESIDE_postgres := $(PY) -m tests.with_postgres
test: setup-dev
	@$(BESIDE_$(DB)) $(PY) -m pytest -q -n auto --dist loadfile --no-loadscope-reorder

check: setup-dev
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy evalstudio evaluators experiments annotations
	$(PY) -m mypy --strict clients/python/src
	$(PY) -m djlint --lint templates --quiet
	$(PY) manage.py makemigrations --check --dry-run

format: setup-dev
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .
