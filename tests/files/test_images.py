"""Pictures for models and pages: what a value points to, what travels, what is fetched."""

import asyncio
import base64
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from django.core.files.base import ContentFile
from django.urls import reverse

from evalstudio.calls.models import Connection
from evalstudio.files.images import NotAnImage, image_part
from evalstudio.files.keeping import keep
from evalstudio.files.pictures import picture_of, pictures_in
from evalstudio.projects.models import Project
from tests.files.test_files import _own_folder, png  # noqa: F401

WRITTEN = f"data:image/png;base64,{base64.b64encode(png()).decode()}"


@pytest.fixture
def connection(project):
    return Connection.objects.create(project=project, name="Eyes", base_url="http://127.0.0.1:1/v1", model="sees")


@pytest.fixture
def stored(project, alice):
    return keep(project, alice, ContentFile(png(), name="cat.png"))


def part(value, connection):
    return asyncio.run(image_part(value, connection.pk))


@pytest.mark.django_db(transaction=True)
def test_a_stored_file_travels_as_its_bytes(stored, connection):
    for address in (stored.get_absolute_url(), f"https://any.host{stored.get_absolute_url()}"):
        assert part(address, connection) == {"type": "image_url", "image_url": {"url": WRITTEN}}


@pytest.mark.django_db(transaction=True)
def test_a_file_of_another_project_never_travels(stored, alice):
    theirs = Connection.objects.create(
        project=Project.start("Other", alice), name="Eyes", base_url="http://127.0.0.1:1/v1", model="sees"
    )
    with pytest.raises(NotAnImage, match="not among the files of this project"):
        part(stored.get_absolute_url(), theirs)


@pytest.mark.django_db(transaction=True)
def test_a_file_that_is_no_picture_never_travels_as_one(project, alice, connection):
    stored = keep(project, alice, ContentFile(b"%PDF-1.7", name="report.pdf"))
    with pytest.raises(NotAnImage, match=r"report\.pdf is no picture"):
        part(stored.get_absolute_url(), connection)


@pytest.mark.django_db(transaction=True)
def test_other_addresses_are_passed_on(connection):
    outside = "https://pictures.example.org/view?id=3"
    assert part(outside, connection)["image_url"]["url"] == outside
    assert part({"url": WRITTEN}, connection)["image_url"]["url"] == WRITTEN


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "value",
    ["a cat", "", None, 3, "javascript:alert(1)", "file:///etc/passwd", "data:text/html;base64,PGI+", "/etc/passwd"],
)
def test_what_is_no_picture_is_refused(connection, value):
    with pytest.raises(NotAnImage, match="no address of a picture"):
        part(value, connection)


def test_data_that_claims_to_be_a_picture_is_looked_at():
    claimed = f"data:image/png;base64,{base64.b64encode(b'<script>').decode()}"
    assert picture_of(claimed, "support") is None


@pytest.mark.django_db
def test_pages_find_pictures_in_nested_data(stored, project):
    data = {"page": [{"shot": stored.get_absolute_url()}], "icon": WRITTEN, "text": "https://example.org/", "n": 3}
    found = {picture.path: picture.src for picture in pictures_in(data, project.slug)}
    assert found == {"page[0].shot": reverse("file-digest", args=[project.slug, stored.digest]), "icon": WRITTEN}


@pytest.fixture
def host():
    """A host with one picture, one page and one redirection."""

    class Host(BaseHTTPRequestHandler):
        def do_GET(self):
            status, body = {
                "/cat.png": (200, png()),
                "/page.png": (200, b"<html>"),
                "/away.png": (302, b""),
            }.get(self.path, (404, b""))
            self.send_response(status)
            self.send_header("Location", "http://169.254.169.254/")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Host)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_picture_elsewhere_comes_through_us(as_alice, project, host, settings):
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    shown = picture_of(f"{host}/cat.png", project.slug)
    assert shown.src.startswith(reverse("file-outside", args=[project.slug]))
    served = as_alice.get(shown.src)
    assert (served.status_code, served["Content-Type"], served.content) == (200, "image/png", png())


@pytest.mark.parametrize("path", ["/page.png", "/away.png", "/none.png"])
def test_anything_but_a_picture_is_not_served(as_alice, project, host, settings, path):
    settings.OUTBOUND_ALLOW = ["127.0.0.1"]
    served = as_alice.get(picture_of(f"{host}{path}", project.slug).src)
    assert served.status_code == 502
    assert served["Content-Type"].startswith("text/plain")


def test_private_addresses_stay_out_of_reach(as_alice, project, host):
    served = as_alice.get(picture_of(f"{host}/cat.png", project.slug).src)
    assert served.status_code == 502
    assert "not allowed here" in served.content.decode()


def test_only_addresses_that_a_page_named_are_fetched(as_alice, project, host):
    address = reverse("file-outside", args=[project.slug])
    assert as_alice.get(address, {"url": f"{host}/cat.png"}).status_code == 404
    assert as_alice.get(address).status_code == 404
