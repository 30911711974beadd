# Thresher as a service and as a command, as a user of its own, over a volume; see docs/running.md.
#
#   docker build --tag thresher .
#   docker run --rm --publish 8765:8765 --read-only --tmpfs /tmp --env THRESHER_SERVER__ADMIN_KEY="$KEY" \
#       --volume thresher:/home/thresher/collections thresher
#   docker run --rm --volume "$PWD:/documents:ro" --volume thresher:/home/thresher/collections thresher index .
FROM python:3.11-slim AS built

WORKDIR /source
COPY requirements.lock ./
RUN python -m venv /opt/thresher \
    && /opt/thresher/bin/pip install --no-cache-dir --require-hashes --requirement requirements.lock
COPY pyproject.toml version.py README.md LICENSE NOTICE ./
COPY src src
COPY docs docs
COPY examples examples
COPY packages/thresher-server packages/thresher-server
RUN /opt/thresher/bin/pip install --no-cache-dir --no-deps . ./packages/thresher-server && /opt/thresher/bin/pip check

FROM python:3.11-slim

COPY --from=built /opt/thresher /opt/thresher
# Collections live in the volume; made here, it belongs to the user and not to root.
RUN useradd --create-home --uid 10001 thresher \
    && install --directory --owner=thresher /home/thresher/collections /documents
ENV PATH=/opt/thresher/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    THRESHER_HOME=/home/thresher/collections \
    THRESHER_SERVER__HOST=0.0.0.0
VOLUME /home/thresher/collections
USER 10001
WORKDIR /documents
EXPOSE 8765
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8765/health', timeout=4)"]
ENTRYPOINT ["thresher"]
CMD ["serve"]
