# An image of the server, which runs without root rights and keeps results in the volume /data.
#   docker build --tag c4gateway . && docker run --publish 8080:8080 --publish 8001:8001 --publish 4242:4242 \
#       --publish 8000:8000 --volume c4gateway:/data c4gateway

ARG PYTHON=python:3.13-slim
FROM ${PYTHON} AS build
COPY pyproject.toml README.md LICENSE /source/
COPY deploy/metadata.py /source/deploy/
COPY gateway /source/gateway
COPY adapters /source/adapters
COPY conformance /source/conformance
RUN python3 -m venv /opt/c4gateway && /opt/c4gateway/bin/pip install --no-cache-dir '/source[cluster,postgres,metrics]'

FROM ${PYTHON}
RUN useradd --user-group --uid 4242 --no-create-home --home-dir /data --shell /usr/sbin/nologin c4gateway \
    && install --directory --owner c4gateway --group c4gateway --mode 700 /data
COPY --from=build /opt/c4gateway /opt/c4gateway
ENV PATH=/opt/c4gateway/bin:$PATH
USER c4gateway
WORKDIR /data
VOLUME /data
EXPOSE 8080 8001 4242 8000 4444 8002 8003
STOPSIGNAL SIGTERM
# Asks the server (process 1) at the ports that its own options name.
HEALTHCHECK --start-period=10s CMD ["c4gateway", "health", "--pid", "1"]
ENTRYPOINT ["c4gateway", "--host", "0.0.0.0"]
CMD ["--drain", "300"]
