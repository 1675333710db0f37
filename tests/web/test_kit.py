"""The kit in a real browser: every component, both themes, three widths, by keyboard; nothing refused or thrown."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser_fixtures import axe_findings, overflow, sign_in

pytestmark = pytest.mark.browser


@pytest.fixture
def kit(page, live_server, alice):
    sign_in(page, live_server, alice)

    def open_kit(query: str = "", width: int = 1440):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{live_server.url}/kit/{query}")
        return page

    return open_kit


def editors_are_there(page):
    page.wait_for_selector("#kit-json + .code-editor .cm-content")


@pytest.mark.parametrize("width", [320, 768, 1440])
def test_axe_finds_nothing_and_nothing_sticks_out_in_either_theme(kit, width):
    page = kit("?theme=light", width)
    page.emulate_media(reduced_motion="reduce")  # so that no colour is looked at on its way to another
    editors_are_there(page)
    assert axe_findings(page) == []
    page.click("[data-toggle-theme]")
    assert axe_findings(page) == []
    assert overflow(page) == 0


def test_the_chosen_theme_is_kept(kit):
    page = kit("?theme=light")
    page.click("[data-toggle-theme]")
    kit()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_the_first_tab_stop_leads_past_the_bar(kit):
    page = kit()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_a_menu_opens_walks_and_closes_by_keyboard(kit):
    page = kit()
    page.focus("summary.avatar")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent").strip() == "Change password"
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.matches('summary.avatar')")
    assert not page.is_visible("text=Change password")


def test_keys_are_listed_and_rest_while_typing(kit):
    page = kit()
    page.keyboard.press("?")
    assert page.is_visible("#keys >> text=Save as v8")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    expect(page.locator("#kit-find")).to_be_focused()
    page.keyboard.type("?")
    assert page.input_value("#kit-find") == "?"


def test_a_toast_appears_once_and_can_be_dismissed(kit):
    page = kit()
    page.keyboard.press("Control+s")
    page.keyboard.press("Control+s")
    assert page.locator("#toasts .toast").all_text_contents() == ["Saved."]
    page.click("#toasts [aria-label=Dismiss]")
    expect(page.locator("#toasts .toast")).to_have_count(0)


def test_what_cannot_be_undone_is_asked_first(kit):
    page = kit()
    posts = []
    page.on("request", lambda request: request.method == "POST" and posts.append(request.url))
    page.click("text=Discard…")
    page.click("#confirm >> text=Cancel")
    assert posts == []
    page.click("text=Discard…")
    with page.expect_navigation():
        page.click("#confirm >> text=Discard edits")
    assert len(posts) == 1


def test_leaving_with_unsaved_edits_warns(kit):
    page = kit()
    page.fill("#id_notes", "half a sentence")
    assert page.is_visible("[data-dirty]")
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.goto("about:blank")
    assert asked == ["beforeunload"]


def test_taking_an_edit_back_makes_leaving_silent(kit):
    page = kit()
    page.fill("#id_notes", "x")
    page.fill("#id_notes", "")
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.goto("about:blank")
    assert asked == []


def test_what_is_typed_is_kept_and_says_when(kit):
    page = kit()
    page.fill("#id_notes", "half a sentence")
    page.wait_for_selector("[data-draft-note]:has-text('Draft kept at')")
    assert page.text_content("[data-draft-note]").startswith("Notes differ from v7. Draft kept at ")


def test_a_brace_offers_the_paths_of_the_case_and_writes_the_textarea(kit):
    page = kit()
    editors_are_there(page)
    page.click("#kit-prompt + .code-editor .cm-content")
    page.keyboard.press("Control+End")
    page.keyboard.type("{")
    page.wait_for_selector(".cm-tooltip-autocomplete >> text=outputs.answer")
    page.keyboard.type("outp")
    page.wait_for_timeout(150)  # the list takes no key in the moment after it changed
    page.keyboard.press("Enter")
    assert page.input_value("#kit-prompt").endswith("{{ outputs.answer }}")


def test_the_wrong_line_is_marked_and_the_right_word_is_one_click_away(kit):
    page = kit()
    assert page.text_content(".cm-bad-line") == "{{ expectedOutput.answer }}"
    page.click("[data-fix-for=kit-prompt]")
    assert "{{ expectedOutputs.answer }}" in page.input_value("#kit-prompt")
    expect(page.locator(".cm-bad-line")).to_have_count(0)


def test_rows_walk_by_key_and_open_beside_the_list(kit):
    page = kit()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_selector("#peek h2 >> text=refund-late-17")
    expect(page).to_have_url(re.compile(r"\?peek=refund-late-17$"))
    page.keyboard.press("j")
    page.wait_for_selector("#peek h2 >> text=outage-credit-11")
    expect(page).to_have_url(re.compile(r"\?peek=outage-credit-11$"))
    page.keyboard.press("Escape")
    assert not page.is_visible("#peek")
    expect(page).to_have_url(re.compile("/kit/$"))
    assert page.evaluate("document.activeElement.textContent").startswith("outage-credit-11")


def test_the_open_peek_passes_axe_on_a_phone_and_beside_the_list(kit):
    page = kit(width=320)
    page.click("[data-row] >> text=refund-late-17")
    page.wait_for_selector("#peek h2")
    for width in (320, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(300)  # the panel slides in
        assert axe_findings(page) == []
        assert overflow(page) == 0


def test_tabs_take_turns_by_arrow_key(kit):
    page = kit()
    page.focus("#kit-results-tab")
    page.keyboard.press("ArrowRight")
    assert page.is_visible("#kit-metrics")
    assert not page.is_visible("#kit-results")


def test_a_redirect_answered_to_htmx_becomes_a_page_and_an_error_a_toast(kit, troubles):
    page = kit()
    page.evaluate("htmx.ajax('GET', '/kit/peek/nowhere/', '#kit-metrics')")
    page.wait_for_selector("#toasts >> text=This is not there any more.")
    assert "404" in troubles.pop()
    assert page.text_content("#kit-metrics") == "Five figures about it."
    page.context.clear_cookies()
    page.evaluate("htmx.ajax('GET', '/kit/paths/', '#kit-metrics')")
    page.wait_for_url("**/sign-in/**")
