"""Files: taken in by what they are, kept once, shown to members, handed to models as bytes."""

import base64
import struct
import zlib

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from evalstudio.files.models import StoredFile
from evalstudio.files.pictures import pictures_in
from evalstudio.projects.models import ApiToken, Project, Scope


def png(shade: int = 0) -> bytes:
    """A picture of one pixel."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(bytes([0, shade]))) + chunk(b"IEND", b"")


@pytest.fixture(autouse=True)
def _own_folder(settings, tmp_path):
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}},
    }


@pytest.fixture
def send(as_alice, project):
    """Upload files through the page, by name and content."""

    def post(**files):
        sent = [SimpleUploadedFile(name.replace("_", "."), content) for name, content in files.items()]
        return as_alice.post(reverse("file-list", args=[project.slug]), {"files": sent})

    return post


def test_an_upload_gets_an_address_that_serves_it(send, as_alice, project):
    assert send(cat_png=png()).status_code == 302
    stored = StoredFile.objects.get()
    assert (stored.name, stored.content_type, stored.size) == ("cat.png", "image/png", len(png()))
    page = as_alice.get(reverse("file-list", args=[project.slug])).content.decode()
    assert f"http://testserver{stored.get_absolute_url()}" in page
    served = as_alice.get(stored.get_absolute_url())
    assert b"".join(served.streaming_content) == png()
    assert served["Content-Type"] == "image/png"
    assert served["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in served["Content-Security-Policy"]


def test_the_same_content_is_kept_once(send):
    send(cat_png=png(), dog_png=png())
    send(cat_png=png())
    assert StoredFile.objects.count() == 1


def test_what_it_is_counts_and_not_what_it_is_called(send):
    send(photo_html=png())
    assert StoredFile.objects.get().name == "photo.png"


def test_an_empty_file_is_refused_with_a_sentence(send):
    answer = send(cat_png=b"")
    assert answer.status_code == 422
    assert "empty" in answer.content.decode()
    assert not StoredFile.objects.exists()


def test_a_file_that_is_too_large_is_refused(send, settings):
    settings.FILE_MAX_BYTES = 1024 * 1024
    answer = send(cat_png=png() + b"\0" * 1024 * 1024)
    assert answer.status_code == 422
    assert "A file may have 1 MB" in answer.content.decode()


def test_of_several_the_right_ones_are_kept(send):
    answer = send(cat_png=png(), notes_txt=b"")
    assert answer.status_code == 422
    assert "notes.txt:" in answer.content.decode()
    assert StoredFile.objects.get().name == "cat.png"


def test_members_read_strangers_find_nothing(send, client, bob, charlie):
    send(cat_png=png())
    stored = StoredFile.objects.get()
    listed = reverse("file-list", args=[stored.project.slug])
    client.force_login(bob)
    assert client.get(stored.get_absolute_url()).status_code == 200
    assert client.get(listed).status_code == 200
    assert client.post(listed, {"files": [SimpleUploadedFile("b.png", png(1))]}).status_code == 403
    client.force_login(charlie)
    assert client.get(stored.get_absolute_url()).status_code == 404
    assert client.get(listed).status_code == 404
    client.logout()
    assert client.get(stored.get_absolute_url()).status_code == 302


def test_the_file_of_one_project_is_none_of_another(send, as_alice, alice):
    send(cat_png=png())
    stored = StoredFile.objects.get()
    other = Project.start("Other", alice)
    assert as_alice.get(reverse("file-content", args=[other.slug, stored.digest, stored.name])).status_code == 404


def test_the_list_asks_a_constant_number_of_queries(send, as_alice, project, django_assert_max_num_queries):
    for shade in range(12):
        send(**{f"cat{shade}_png": png(shade)})
    with django_assert_max_num_queries(7):
        as_alice.get(reverse("file-list", args=[project.slug]))


def test_pipelines_send_over_rest(client, project, alice):
    _, secret = ApiToken.issue(project, alice, "ci", Scope.WRITE)
    headers = {"Authorization": f"Bearer {secret}"}
    address = f"/api/projects/{project.slug}/files/"
    sent = client.post(address, {"file": SimpleUploadedFile("../../cat dog.png", png())}, headers=headers)
    assert sent.status_code == 201
    said = sent.json()
    assert said["url"] == f"http://testserver/p/{project.slug}/files/{said['digest']}/cat-dog.png"
    assert client.get(address, headers=headers).json()["results"] == [said]
    refused = client.post(address, {"file": SimpleUploadedFile("cat.png", b"")}, headers=headers)
    assert refused.status_code == 400
    assert "empty" in str(refused.json())


def test_a_file_that_is_too_large_is_413_over_rest(client, project, alice, settings):
    settings.FILE_MAX_BYTES = 100_000
    _, secret = ApiToken.issue(project, alice, "ci", Scope.WRITE)
    headers = {"Authorization": f"Bearer {secret}"}
    for size in (100_001, 300_000):
        sent = SimpleUploadedFile("log.txt", b"a" * size)
        answer = client.post(f"/api/projects/{project.slug}/files/", {"file": sent}, headers=headers)
        assert answer.status_code == 413
        assert answer["Content-Type"] == "application/problem+json"
    assert not StoredFile.objects.exists()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("report.pdf", "application/pdf"),
        ("rows.csv", "text/csv"),
        ("page.html", "text/html"),
        ("drawing.svg", "image/svg+xml"),
        ("trace.jsonl", "application/x-ndjson"),
        ("archive.tar.gz", "application/octet-stream"),
        ("no ending", "application/octet-stream"),
        ("odd.xyzzy", "application/octet-stream"),
        ("cat.png", "application/octet-stream"),  # says so and is not
    ],
)
def test_any_file_is_kept_and_only_ever_downloaded(send, as_alice, project, name, kind):
    content = b"<script>alert(1)</script>"
    as_alice.post(reverse("file-list", args=[project.slug]), {"files": [SimpleUploadedFile(name, content)]})
    stored = StoredFile.objects.get()
    assert (stored.content_type, stored.is_picture) == (kind, False)
    served = as_alice.get(stored.get_absolute_url())
    assert served["Content-Disposition"].startswith("attachment")
    assert served["X-Content-Type-Options"] == "nosniff"
    assert served["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert b"".join(served.streaming_content) == content


def test_what_only_its_name_calls_a_picture_is_never_shown_as_one(send, project):
    send(cat_png=b"not a picture", dog_JPEG=b"nor this")
    kept = StoredFile.objects.order_by("pk")
    assert [stored.name for stored in kept] == ["cat.png.bin", "dog.JPEG.bin"]
    assert not pictures_in([stored.get_absolute_url() for stored in kept], project.slug)


def test_text_can_be_looked_at_as_plain_text_and_nothing_else_can(send, as_alice):
    send(page_html=b"<script>alert(1)</script>", report_pdf=b"%PDF-1.7")
    page, report = StoredFile.objects.order_by("pk")
    looked = as_alice.get(page.get_absolute_url(), {"as": "text"})
    assert looked["Content-Type"] == "text/plain; charset=utf-8"
    assert looked["Content-Disposition"].startswith("inline")
    assert looked["X-Content-Type-Options"] == "nosniff"
    assert as_alice.get(report.get_absolute_url(), {"as": "text"})["Content-Disposition"].startswith("attachment")


def test_a_name_cannot_break_out_of_its_header(as_alice, project):
    evil = SimpleUploadedFile('a"; filename=b.html', b"text")
    as_alice.post(reverse("file-list", args=[project.slug]), {"files": [evil]})
    stored = StoredFile.objects.get()
    assert as_alice.get(stored.get_absolute_url())["Content-Disposition"] == f'attachment; filename="{stored.name}"'
    assert '"' not in stored.name


def test_a_token_that_only_reads_sends_nothing(client, project, alice):
    _, secret = ApiToken.issue(project, alice, "ci", Scope.READ)
    address = f"/api/projects/{project.slug}/files/"
    sent = client.post(
        address, {"file": SimpleUploadedFile("c.png", png())}, headers={"Authorization": f"Bearer {secret}"}
    )
    assert sent.status_code == 403


def test_a_digest_alone_is_an_address_too(send, as_alice):
    send(cat_png=png())
    stored = StoredFile.objects.get()
    served = as_alice.get(reverse("file-digest", args=[stored.project.slug, stored.digest]))
    assert base64.b64encode(b"".join(served.streaming_content)) == base64.b64encode(png())
