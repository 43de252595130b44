#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image: it installs what the grader needs.
set -euo pipefail
source=${AUTOGRADER:-/autograder}/source
environment=${GRADER_ENVIRONMENT:-/opt/grader}

apt-get update
apt-get install -y --no-install-recommends python3 python3-venv libseccomp2
python=python3
if ! $python -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    apt-get install -y --no-install-recommends python3.11 python3.11-venv
    python=python3.11
fi
$python -m venv "$environment"
"$environment/bin/python" -m pip install --no-cache-dir -r "$source/requirements.txt" -c "$source/constraints.txt"
