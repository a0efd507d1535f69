"""Python applications of Debian: a task queue, rate limiters, locks and channel layers."""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
import unittest

import redis

PORT = int(os.environ["PORT"])
URL = f"redis://127.0.0.1:{PORT}/0"


class Applications(unittest.TestCase):
    def setUp(self):
        self.redis = redis.Redis(port=PORT)
        self.redis.flushall()
        self.addCleanup(self.redis.close)

    def test_limits_count_in_fixed_and_moving_windows(self):
        import limits
        from limits.storage import RedisStorage
        from limits.strategies import (FixedWindowElasticExpiryRateLimiter, FixedWindowRateLimiter,
                                       MovingWindowRateLimiter)
        storage = RedisStorage(URL)
        self.assertTrue(storage.check())
        for strategy in (FixedWindowRateLimiter, FixedWindowElasticExpiryRateLimiter,
                         MovingWindowRateLimiter):
            with self.subTest(strategy=strategy.__name__):
                limiter = strategy(storage)
                for window_s in (1, 4, 16):  # a longer window if the machine was too slow
                    item = limits.parse(f"3/{window_s}second")
                    name = f"{strategy.__name__}{window_s}"
                    start = time.monotonic()
                    hits = [limiter.hit(item, name) for _ in range(4)]
                    has_room = limiter.test(item, name)
                    left = limiter.get_window_stats(item, name)[1]
                    if time.monotonic() - start < window_s:
                        break
                self.assertEqual(hits, [True, True, True, False])
                self.assertFalse(has_room)
                self.assertEqual(left, 0)
                time.sleep(1.2 * window_s)
                self.assertTrue(limiter.hit(item, name))

    def test_rq_runs_retries_and_recovers_jobs(self):
        import rq
        import rq_jobs
        from rq.registry import StartedJobRegistry
        queue = rq.Queue("work", connection=self.redis)
        with tempfile.TemporaryDirectory() as folder:
            added = queue.enqueue(rq_jobs.add, 2, 3)
            retried = queue.enqueue(rq_jobs.fail_until, f"{folder}/retried", 2, retry=rq.Retry(max=3))
            failed = queue.enqueue(rq_jobs.fail_until, f"{folder}/failed", 9)
            after = queue.enqueue(rq_jobs.add, 1, 1, depends_on=added)
            worker = rq.SimpleWorker([queue], connection=self.redis)
            for _ in range(4):  # a job that failed is enqueued again
                worker.work(burst=True)
            self.assertEqual(added.latest_result().return_value, 5)
            self.assertEqual(after.latest_result().return_value, 2)
            self.assertEqual(retried.latest_result().return_value, 2)
            self.assertEqual(self.redis.type(f"rq:results:{added.id}"), b"stream")
            self.assertEqual([job.get_status() for job in (added, retried, failed)],
                             ["finished", "finished", "failed"])
            self.assertEqual(queue.failed_job_registry.get_job_ids(), [failed.id])
            failed.requeue()
            worker.work(burst=True)
            self.assertEqual(len(failed.results()), 2)

            # The worker of this job has ended.
            lost = queue.enqueue(rq_jobs.add, 4, 4, retry=rq.Retry(max=1))
            queue.remove(lost)
            lost.set_status(rq.job.JobStatus.STARTED)
            self.redis.zadd(StartedJobRegistry("work", connection=self.redis).key, {lost.id: 1})
            StartedJobRegistry("work", connection=self.redis).cleanup()
            self.assertIn(lost.get_status(), ("queued", "failed"))
            if lost.get_status() == "failed":  # releases before 1.16 do not retry it
                queue.failed_job_registry.requeue(lost)
            worker.work(burst=True)
            self.assertEqual(lost.latest_result().return_value, 8)

    def test_flask_limiter_refuses_too_many_requests(self):
        from flask import Flask
        from flask_limiter import Limiter
        app = Flask("app")
        limiter = Limiter(lambda: "everybody", app=app, storage_uri=URL, strategy="moving-window")

        @app.route("/")
        @limiter.limit("2/minute")
        def index():
            return "fine"

        client = app.test_client()
        self.assertEqual([client.get("/").status_code for _ in range(3)], [200, 200, 429])

    def test_redis_py_locks_are_taken_extended_and_released(self):
        lock = self.redis.lock("lock", timeout=60)
        self.assertTrue(lock.acquire(blocking=False))
        self.assertFalse(self.redis.lock("lock", timeout=60).acquire(blocking=False))
        self.assertTrue(lock.extend(60))
        self.assertTrue(lock.reacquire())
        lock.release()
        self.assertFalse(self.redis.exists("lock"))

    def test_django_redis_caches_and_locks(self):
        import django
        from django.conf import settings
        if not settings.configured:
            settings.configure(CACHES={"default": {"BACKEND": "django_redis.cache.RedisCache",
                                                   "LOCATION": URL}})
            django.setup()
        from django.core.cache import cache
        cache.set("key", {"a": [1, 2]}, timeout=60)
        self.assertEqual(cache.get("key"), {"a": [1, 2]})
        cache.set("count", 1)
        self.assertEqual(cache.incr("count"), 2)
        with cache.lock("lock", timeout=60):
            self.assertFalse(cache.lock("lock", timeout=60).acquire(blocking=False))
        self.assertEqual(cache.delete_pattern("*"), 2)

    def test_channels_redis_delivers_to_channels_and_groups(self):
        from channels_redis.core import RedisChannelLayer

        async def talk():
            layer = RedisChannelLayer(hosts=[("127.0.0.1", PORT)], capacity=3)
            await layer.send("one", {"type": "message", "text": "hello"})
            received = [await layer.receive("one")]
            names = [await layer.new_channel() for _ in range(2)]
            for name in names:
                await layer.group_add("group", name)
            await layer.group_send("group", {"type": "message", "text": "all"})
            received += [await layer.receive(name) for name in names]
            await layer.flush()
            return [message["text"] for message in received]

        self.assertEqual(asyncio.run(asyncio.wait_for(talk(), 60)), ["hello", "all", "all"])

    def test_celery_runs_tasks_later_and_in_chords(self):
        import celery_tasks
        worker = subprocess.Popen(
            [sys.executable, "-B", "-m", "celery", "-A", "celery_tasks", "worker", "--pool=solo",
             "--loglevel=ERROR", "--without-gossip", "--without-mingle"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            from celery import chord
            self.assertEqual(celery_tasks.add.delay(1, 2).get(timeout=120), 3)
            start = time.monotonic()
            self.assertEqual(celery_tasks.add.apply_async((3, 4), countdown=1).get(timeout=120), 7)
            self.assertGreater(time.monotonic() - start, 0.9)
            total = chord(celery_tasks.add.s(i, i) for i in range(3))(celery_tasks.total.s())
            self.assertEqual(total.get(timeout=120), 6)
        finally:
            worker.terminate()
            worker.wait()


if __name__ == "__main__":
    unittest.main()
