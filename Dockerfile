# The library with the versions of requirements.lock, and the smoke test:
#   docker build -t exactdp . && docker run --rm exactdp
FROM python:3.13-slim
WORKDIR /exactdp
COPY requirements.lock .
RUN pip install --no-cache-dir --require-hashes -r requirements.lock
COPY . .
RUN pip install --no-cache-dir --no-deps . ./proofs_check
CMD ["python", "-m", "tools.smoke"]
