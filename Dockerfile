# A Perdure worker. Build: docker build -t perdure . Run it with docker-compose.yml, or against any Temporal server:
# docker run -e PERDURE_ADDRESS=host:7233 -v "$PWD:/workspace" perdure
FROM python:3.12.12-slim-bookworm

ENV PYTHONUNBUFFERED=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1

WORKDIR /app
COPY pyproject.toml README.md LICENSE CHANGELOG.md ./
COPY perdure ./perdure
RUN python -m pip install .

# Tools run with the rights of this user, inside this folder.
RUN useradd --create-home --uid 10001 perdure && mkdir /workspace && chown perdure /workspace
USER 10001
WORKDIR /workspace
VOLUME /workspace

ENTRYPOINT ["python", "-m", "perdure.worker"]
