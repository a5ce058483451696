# A fresh machine needs Python 3.11+, git and make, and two commands:
#   make demo    a shop with an MCP endpoint on http://127.0.0.1:8000/mcp
#                (make demo OAUTH=1: agents sign in, by OAuth)
#   make test    the tests of the package, in three minutes
# and a third one:
#   make docs    the documentation as a site, in docs/_build/html

PORT ?= 8000
# The interpreter that .venv is made with: the newest that runs, unless named here.
PYTHON ?= python3.13 python3.12 python3.11 python3
NODE_PACKAGES := node@22 @modelcontextprotocol/conformance@0.2.0-alpha.12 \
  @modelcontextprotocol/client@2.4.0 @modelcontextprotocol/sdk@1.32.2 \
  @modelcontextprotocol/ext-tasks@0.2.2 @modelcontextprotocol/inspector@2.12.0 \
  axe-core@4.14.1 gpt-tokenizer@4.0.0 oidc-provider@9.13.3

# 1: agents sign in by OAuth, without a token.
OAUTH ?= 0
demo_extras := demo
demo_oauth_extras := demo,oauth
docs_extras := docs
# What users install; the other extras are for work on the package.
shipped_extras := compose filter jwt oauth otel prometheus skills spectacular tasks
test_extras := compose,demo,docs,filter,jwt,lint,oauth,otel,prometheus,skills,spectacular,tasks,test

run := .venv/bin/python

# Some tests start interpreters, which take twice as long where the environment forbids bytecode
# files.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo docs pictures test test-fast test-programs test-projects test-documentation \
  test-nightly test-services test-postgresql test-sites fuzz access-matrix mutants first-command \
  lint node clean bench bench-gate bench-agents bench-peers conformance sbom audit

# The environment may name the settings of another project.
demo: .venv/installed-demo$(if $(filter 1,$(OAUTH)),_oauth)
	@SHOP_OAUTH=$(OAUTH) DJANGO_SETTINGS_MODULE=example_project.settings $(run) manage.py demo --port "$(PORT)"

# A warning is an error, such as a broken link or a page that is in no table of contents.
docs: .venv/installed-docs
	$(run) -m sphinx -q -W --keep-going -b html docs docs/_build/html
	@echo "The documentation: file://$(CURDIR)/docs/_build/html/index.html"

cores = $(shell getconf _NPROCESSORS_ONLN)
# One process more than cores, because tests that start a server or a browser wait for it.
workers = $(shell expr $(cores) + 1)

# The tests that run within one process. They need no Node.js, no browser and no service.
test: lint
	$(run) -m pytest -q -n $(cores)

# For work on the package: each test with one of its parameters, and few examples of a property.
test-fast: .venv/installed-test
	HYPOTHESIS_PROFILE=fast $(run) -m pytest -q -n $(cores) -m "not slow and not variant" $(ARGUMENTS)

# Tests that start servers, clients, browsers and interpreters, each of them once.
test-programs: .venv/installed-test
	@if command -v npm >/dev/null 2>&1; then $(MAKE) --no-print-directory node; else $(no_npm); fi
	$(run) -m pytest -q -n $(workers) -m "not nightly" tests/programs $(ARGUMENTS)
	@command -v npm >/dev/null 2>&1 || { $(no_npm); }
	@command -v chromium-headless-shell >/dev/null 2>&1 || command -v chromium >/dev/null 2>&1 || { $(no_chromium); }

# Tests of whole projects: a library with searches, four migrated projects, the tutorial.
test-projects: .venv/installed-test
	$(run) -m pytest -q -n $(cores) tests/projects $(ARGUMENTS)

# Tests of the documentation: examples, names and links.
test-documentation: .venv/installed-test
	$(run) -m pytest -q -n $(cores) tests/documentation $(ARGUMENTS)

# Nightly: all of these, with many more examples of each property.
test-nightly: .venv/installed-test
	HYPOTHESIS_PROFILE=nightly $(run) -m pytest -q -n auto tests tests/programs tests/projects \
	  tests/documentation

# The archive, approvals and the guards of writes on PostgreSQL; two sites that share a PostgreSQL and
# a Redis server, with faults in both; the dashboard on Prometheus. Missing Debian packages are installed.
test-services: test-postgresql test-sites

test-postgresql: .venv/installed-test
	.ci/with_services $(run) -m pytest -q tests/stored tests/contrib/writes/confirmation \
	  tests/contrib/writes/stale tests/contrib/writes/idempotency tests/contrib/writes/dry_run \
	  tests/contrib/rules/test_at_once.py tests/access_matrix/test_awkward.py

test-sites: .venv/installed-test
	.ci/with_services $(run) -m pytest -q tests/services $(ARGUMENTS)

# Send 20,000 broken messages to the endpoint and count the answers. ARGUMENTS="--seed 7" makes
# other messages.
fuzz: .venv/installed-test
	@$(run) -m tests.fuzz $(ARGUMENTS)

# Compare each tool of the example project with the same HTTP request, for each credential, and
# views with unusual access rules through each door. ARGUMENTS="awkward" does the second alone.
access-matrix: .venv/installed-test
	@$(run) -m tests.access_matrix $(ARGUMENTS)

# Change functions that guard access, money or data, one at a time in a copy of the tree, and list the
# changes that the nearest tests do not notice. Nightly, because it takes some minutes.
# ARGUMENTS="access/" tries the functions of one folder.
mutants: .venv/installed-test
	@$(run) -m tests.mutants --processes $(cores) $(ARGUMENTS)

# Run the first command of the README in a clean clone of the last commit, with each installed CPython.
first-command: .venv/installed-test
	@$(run) .ci/first_command.py $(ARGUMENTS)

# Run the official conformance suite against a live server, and print a line for each revision.
# ARGUMENTS="--missing" names the scenarios that fail, ARGUMENTS="--server gunicorn" serves by WSGI.
conformance: .venv/installed-test node
	@$(run) -m tests.programs.conformance $(ARGUMENTS)

# Take the pictures of the documentation, docs/images. Nightly; needs Chromium.
pictures: .venv/installed-test
	@$(run) -m docs.pictures

# Print what a tool call costs, as a multiple of the same HTTP request. ARGUMENTS="--rounds 300"
# measures longer.
bench: .venv/installed-test
	@$(run) -m benchmarks $(ARGUMENTS)

# Fails where a call, a list or a start takes more processor time or SQL than its bar.
bench-gate: .venv/installed-test
	@$(run) -m benchmarks --gate $(ARGUMENTS)

# Print how well an agent can use the list of tools and the errors.
# Tokens are exact where Node.js is installed (make node).
bench-agents: .venv/installed-test
	@$(run) -m benchmarks.agents

# Measure the same operations with drf_mcp and with other packages, as multiples of the plain request.
# Nightly, because it takes some minutes and installs the packages into build/environments.
# ARGUMENTS="drf_mcp fastmcp --rounds 10" measures two packages for a shorter time.
bench-peers: .venv/installed-test
	@$(run) -m benchmarks.peers $(ARGUMENTS)

# Write what `pip install drf-mcp-server` installs, alone and with each extra, as CycloneDX documents
# into build/sbom.
sbom: .venv/bin/python
	@rm -rf build/sbom && mkdir -p build/sbom
	@$(run) -m venv --without-pip build/sbom/tool
	@$(run) -m pip --python build/sbom/tool install --quiet --no-compile 'cyclonedx-bom>=7'
	@set -e; for extra in "" $(foreach extra,$(shipped_extras),[$(extra)]); do \
	  name=$$(echo "drf-mcp-server$$extra" | tr '[' - | tr -d ']'); \
	  $(run) -m venv --clear --without-pip build/sbom/installed; \
	  $(run) -m pip --python build/sbom/installed install --quiet --no-compile ".$$extra"; \
	  build/sbom/tool/bin/cyclonedx-py environment build/sbom/installed --pyproject pyproject.toml \
	    --mc-type library --output-reproducible --output-file "build/sbom/$$name.cdx.json"; \
	done
	@rm -rf build/sbom/tool build/sbom/installed
	@echo "What is installed with the package: build/sbom/*.cdx.json"

# Fail if a package of .venv, or one that `pip install drf-mcp-server` installs, alone or with an
# extra, has a known vulnerability. Passes where the service of pip-audit cannot be reached.
audit: .venv/installed-test
	@$(run) -m venv build/audit
	@build/audit/bin/python -m pip install --quiet --disable-pip-version-check 'pip-audit>=2.9'
	@PATH="$(CURDIR)/build/audit/bin:$$PATH" $(abspath $(run)) .ci/audit.py $(shipped_extras)

lint: .venv/installed-test
	$(run) -m ruff check .
	$(run) -m ruff format --check .
	$(run) -m mypy
	$(run) -m bandit -q -c pyproject.toml -r drf_mcp example_project

# Node.js, the official conformance suite, the TypeScript SDK, old and new, the MCP Inspector and
# an authorization server, axe-core for pages in a browser: tests/programs;
# gpt-tokenizer for benchmarks/agents.
node: .venv/node/installed

clean:
	rm -rf .venv .tox .demo build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis docs/_build

define no_npm
echo "*** npm is not installed: THE TESTS THAT NEED NODE.JS ARE LEFT OUT. To run them: sudo apt-get install npm" >&2
endef

define no_chromium
echo "*** Chromium is not installed: THE TESTS OF THE PAGE IN A BROWSER ARE LEFT OUT. To run them: sudo apt-get install chromium-headless-shell" >&2
endef

.venv/node/installed: Makefile | .venv/bin/python
	rm -rf .venv/node
	npm install --prefix .venv/node --no-audit --no-fund --loglevel=error $(NODE_PACKAGES)
	@touch $@

.venv/installed-%: pyproject.toml | .venv/bin/python
	$(run) -m pip install --quiet --disable-pip-version-check --no-compile -e ".[$($*_extras)]"
	@touch $@

# A Python on the PATH may be a shim that fails, or have no venv, so each is tried. Where none runs,
# pyenv may have installed one outside the PATH.
.venv/bin/python:
	@ran=""; \
	for name in $(PYTHON) $$(for name in $(PYTHON); do pyenv whence --path "$$name"; done 2>/dev/null); do \
	  "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || continue; \
	  ran="$$name"; \
	  "$$name" -c 'import ensurepip, venv' >/dev/null 2>&1 || continue; \
	  echo "Making .venv with $$("$$name" --version)"; \
	  "$$name" -m venv --clear .venv; exit $$?; \
	done; \
	if [ -n "$$ran" ]; then \
	  echo "$$ran cannot make a virtual environment. Mend it with: sudo apt-get install python3-venv" >&2; \
	else \
	  echo "Python 3.11 or newer is needed, and none of these runs it: $(PYTHON)." \
	    "Get it with: sudo apt-get install python3 python3-venv" >&2; \
	fi; \
	exit 1
