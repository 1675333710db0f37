"""The two children of `serve`: the web server and the background worker."""

from __future__ import annotations

import gc
from typing import Any

THREADS = 8


def load_everything() -> None:
    """Import what both children need before they are forked, so that they share it."""
    from django.urls import get_resolver

    import evalstudio.wsgi  # noqa: F401

    get_resolver().url_patterns  # noqa: B018  imports every view
    gc.collect()
    gc.freeze()  # keeps shared pages shared: the collector would touch every object


def run_web(host: str, port: int) -> None:
    from gunicorn.app.base import BaseApplication

    class Web(BaseApplication):
        def load_config(self) -> None:
            options: dict[str, Any] = {
                "bind": f"{host}:{port}",
                "workers": 1,
                "threads": THREADS,
                "worker_class": "gthread",
                "timeout": 120,
                "graceful_timeout": 10,
                "keepalive": 15,
                "loglevel": "warning",
                "control_socket_disable": True,
            }
            for name, value in options.items():
                if name in self.cfg.settings:
                    self.cfg.set(name, value)

        def load(self) -> Any:
            from evalstudio.wsgi import application

            return application

    Web().run()


def run_worker() -> None:
    from django_q.cluster import Cluster

    cluster = Cluster()
    cluster.start()
    cluster.sentinel.join()
