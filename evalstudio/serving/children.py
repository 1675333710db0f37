"""The two children of `serve`: the web server and the background worker."""

from __future__ import annotations

import gc
import logging
import os
import signal
from importlib import import_module
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connections

THREADS = 8
UPKEEP_EVERY_S = 2.0

log = logging.getLogger(__name__)


def load_everything() -> None:
    """Import what both children need before they are forked, so that they share it."""
    from django.urls import get_resolver

    import evalstudio.wsgi  # noqa: F401

    get_resolver().reverse_dict  # noqa: B018  imports every page
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
    """The queue's cluster, with this process looking after what its workers leave behind when they are killed."""
    from evalstudio.serving.cluster import Cluster

    upkeep = import_module(settings.UPKEEP)
    upkeep.begin()
    connections.close_all()  # the cluster is forked from here
    cluster = Cluster()
    cluster.start()
    signal.signal(signal.SIGTERM, _interrupt_all)
    while cluster.sentinel.is_alive():
        cluster.sentinel.join(UPKEEP_EVERY_S)
        try:
            upkeep.look_after()
        except DatabaseError:
            log.exception("The workers could not be looked after; the next look is in %s s.", UPKEEP_EVERY_S)


def _interrupt_all(*_: object) -> None:
    """Workers are asked to end their turns in order, which they hear as SIGINT; the cluster itself stops by it too."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(os.getpgrp(), signal.SIGINT)
