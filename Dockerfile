# The command `thresher` as a user of its own; see "Installing" in README.md.
#
#   docker build --tag thresher .
#   docker run --rm --volume "$PWD:/documents:ro" --volume thresher:/home/thresher/collections thresher index .
#   docker run --rm --volume "$PWD:/documents:ro" --volume thresher:/home/thresher/collections thresher "How long?"
FROM python:3.11-slim

WORKDIR /source
COPY pyproject.toml version.py README.md LICENSE NOTICE ./
COPY src src
COPY docs docs
COPY examples examples
RUN pip install --no-cache-dir '.[llm]' && rm -rf /source

# Collections live in the volume; made here, it belongs to the user and not to root.
RUN useradd --create-home thresher && install --directory --owner=thresher /home/thresher/collections
ENV THRESHER_HOME=/home/thresher/collections
VOLUME /home/thresher/collections
USER thresher
WORKDIR /documents
ENTRYPOINT ["thresher"]
