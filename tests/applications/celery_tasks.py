"""Tasks for the worker of python_applications.py."""

import os

from celery import Celery

URL = f"redis://127.0.0.1:{os.environ['PORT']}/1"
app = Celery("celery_tasks", broker=URL, backend=URL)


@app.task
def add(a, b):
    return a + b


@app.task
def total(numbers):
    return sum(numbers)
