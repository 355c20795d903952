# Serves the planning tools to MCP clients over HTTP at http://HOST:8000/mcp:
#
#   docker build -t llm-modulo . && docker run --init --publish 127.0.0.1:8000:8000 llm-modulo
#
# --init reaps planners that outlive their parent. Anything else that the command line does works
# too: docker run --init -i llm-modulo llm-modulo serve. Each step below is one of
# scripts/container.sh, which the test suite runs as an ordinary user.

FROM python:3.12-slim AS build
COPY . /source
RUN /source/scripts/container.sh install /opt/llm-modulo

FROM python:3.12-slim
RUN useradd --system --create-home --uid 10001 llm-modulo
COPY --from=build /opt/llm-modulo /opt/llm-modulo
ENV PATH="/opt/llm-modulo/bin:$PATH" PYTHONUNBUFFERED=1
USER llm-modulo
WORKDIR /home/llm-modulo
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["/opt/llm-modulo/bin/container.sh", "healthcheck"]
# Runs `llm-modulo serve … --allow-unauthenticated`: anyone who reaches the port may use the
# planners. Publish it on a loopback address, as above, or put an authenticating proxy before it.
CMD ["/opt/llm-modulo/bin/container.sh", "run"]
