# Two targets: `web` (also the workers without models) and `worker` (with torch).
FROM python:3.11-slim-bookworm AS base
ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    WWD_VAR_DIR=/var/lib/wwd \
    WWD_STATIC_ROOT=/srv/static \
    WWD_LOG_FORMAT=json
# Letters of figures in scripts beyond those that requirements.txt brings.
RUN apt-get update && apt-get install -y --no-install-recommends fonts-noto-core && rm -rf /var/lib/apt/lists/*
RUN useradd --system --uid 10001 --home-dir /var/lib/wwd --create-home wwd
WORKDIR /srv/app
COPY requirements.txt ./
RUN pip install -r requirements.txt

FROM base AS web
# "yes": with Chromium and letters of all scripts, which make PDF files of reports.
ARG WITH_PDF=no
RUN if [ "$WITH_PDF" = yes ]; then apt-get update && apt-get install -y --no-install-recommends chromium fonts-noto-core fonts-noto-cjk \
    && rm -rf /var/lib/apt/lists/*; fi
ARG WWD_COMMIT=
ENV WWD_COMMIT=$WWD_COMMIT
COPY . .
# A key only for this step; the folder keeps nothing of it.
RUN WWD_VAR_DIR=/tmp/collecting python manage.py collectstatic --no-input && rm -rf /tmp/collecting
USER wwd
VOLUME /var/lib/wwd
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=20s CMD ["python", "deploy/probe.py"]
CMD ["gunicorn", "-c", "deploy/gunicorn.conf.py", "--bind", "0.0.0.0:8000"]

FROM base AS worker
COPY requirements-worker.txt ./
RUN pip install -r requirements-worker.txt
ARG WWD_COMMIT=
ENV WWD_COMMIT=$WWD_COMMIT
COPY . .
USER wwd
VOLUME /var/lib/wwd
CMD ["celery", "-A", "wwd", "worker", "-Q", "gpu", "-c", "1", "--without-gossip", "--without-mingle"]
