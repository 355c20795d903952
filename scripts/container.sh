#!/bin/sh
# Every step of the container image, so that each runs, and is tested, without a container engine.
#
#   container.sh install PREFIX [--libraries DIR]
#       makes a virtual environment at PREFIX with llm-modulo built from this checkout, and puts a
#       copy of this script into PREFIX/bin. With --libraries nothing is downloaded: the libraries
#       and pip are those of the site-packages folder DIR of another environment.
#   PREFIX/bin/container.sh run [OPTION]...
#       serves MCP over HTTP until SIGTERM; further options go to `llm-modulo serve`
#   PREFIX/bin/container.sh healthcheck
#       exits 0 if that server answers, 1 if it does not
#
# Environment: PYTHON (for install), LLM_MODULO_HOST, LLM_MODULO_PORT (for run and healthcheck).
set -eu

bin=$(cd "$(dirname "$0")" && pwd)
host=${LLM_MODULO_HOST:-0.0.0.0}
port=${LLM_MODULO_PORT:-8000}

usage() {
    sed -n '4,12s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

install() {
    [ $# -eq 1 ] || { [ $# -eq 3 ] && [ "$2" = --libraries ]; } || usage
    prefix=$1
    libraries=${3:-}
    checkout=$(dirname "$bin")
    # Built from a copy: the checkout may be read-only, or hold the remains of another build.
    source=$(mktemp -d)
    trap 'rm -rf "$source"' EXIT
    (cd "$checkout" && cp -R core domains server agent eval pyproject.toml README.md LICENSE "$source")

    if [ -n "$libraries" ]; then
        "${PYTHON:-python3}" -m venv --without-pip "$prefix"
        site=$("$prefix/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
        echo "$libraries" >"$site/libraries.pth"
        set -- --no-index --no-deps --ignore-installed
    else
        "${PYTHON:-python3}" -m venv "$prefix"
        set -- --no-cache-dir --constraint "$checkout/constraints.txt"
        "$prefix/bin/python" -m pip install --quiet "$@" setuptools
    fi
    "$prefix/bin/python" -m pip install --quiet --no-build-isolation "$@" "$source"
    cp "$0" "$prefix/bin/container.sh"
}

run() {
    # A container's port is closed until someone publishes it, and the image holds no secret to
    # check a token against: whoever publishes the port decides who may reach it.
    exec "$bin/llm-modulo" serve --transport http --host "$host" --port "$port" \
        --allow-unauthenticated "$@"
}

healthcheck() {
    exec "$bin/python" - "http://127.0.0.1:$port/health" <<'PYTHON'
import sys
import urllib.request

opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
try:
    opener.open(sys.argv[1], timeout=4).close()
except OSError as error:
    sys.exit(f"{sys.argv[1]}: {error}")
PYTHON
}

[ $# -gt 0 ] || usage
step=$1
shift
case $step in
    install | run | healthcheck) "$step" "$@" ;;
    *) usage ;;
esac
