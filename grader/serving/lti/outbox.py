"""Points on their way to platforms, in a table until they have arrived: none is lost, and none is sent for nothing."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import sqlalchemy as sql

from grader.course.folder import Course
from grader.gradebook.published import PublishedPoints
from grader.model.untrusted import is_object, number
from grader.serving.allowance import shown_to
from grader.serving.arrivals import Arrivals
from grader.serving.grades import SubmissionGrades, read_grades
from grader.serving.lti.platform_requests import PlatformError, read_body, read_object
from grader.serving.lti.quirks import AGS, quirks_of
from grader.serving.lti.registrations import Registration, find_url_problem
from grader.serving.lti.store import ITEMS, PEOPLE, SCORES
from grader.serving.lti.tool import Tool
from grader.term.rules import Detail

log = logging.getLogger(__name__)

WAITING, ARRIVED, REFUSED = "waiting", "arrived", "refused"
OF_ITEM, OF_ITEMS = (f"application/vnd.ims.lis.v2.lineitem{kind}+json" for kind in ("", "container"))
OF_SCORE, OF_RESULTS = "application/vnd.ims.lis.v1.score+json", "application/vnd.ims.lis.v2.resultcontainer+json"
PAUSE, LONGEST_PAUSE = 15, 6 * 3600  # seconds between two tries
LOOK_AGAIN = 60.0  # seconds until points are compared again, even if nothing is heard of
BREATH = 2.0  # … between two comparisons, however much is heard of
_OF_ITEM = (ITEMS.c.course, ITEMS.c.assignment, ITEMS.c.line_item, ITEMS.c.line_items)
_SCORES_OF_ITEMS = sql.select(SCORES, *_OF_ITEM).join(ITEMS).order_by(SCORES.c.id)


class Outbox:
    """Compares what students may see with what has arrived, and sends what differs."""

    def __init__(self, tool: Tool, arrivals: Arrivals) -> None:
        self.tool = tool
        self._arrivals = arrivals
        self._news = asyncio.Event()

    def wake(self) -> None:
        """There may be other points, or another column for them."""
        self._news.set()

    async def run(self) -> None:
        """Send points until the server ends. Whatever goes wrong, it goes on."""
        while True:
            try:
                self.tool.store.remove_unconfirmed()
                await asyncio.to_thread(self.collect)
                await self.send()
            except Exception:
                log.exception("LTI: points could not be sent")
            await asyncio.sleep(BREATH)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), LOOK_AGAIN)
            self._news.clear()

    def collect(self) -> None:
        """Put into the table what differs from what has arrived."""
        course, courses = Course(self.tool.course.root), self.tool.confirmed_courses()
        earlier = {(score.item, score.person): score for score in self.tool.store.rows(SCORES)}
        for item in self.tool.store.rows(ITEMS):
            if item.course not in courses:
                continue
            people = [person for person in self.tool.people.students_in(item.course) if person.student]
            students = [person.student for person in people]
            arrivals = self._arrivals.of_group(students, item.assignment)
            grades = read_grades(course, item.assignment, arrivals, students, as_published=True)
            platform = self.tool.registrations.get(courses[item.course].registration)
            for person in people:
                score = self._score_of(person, grades)
                if score:
                    content = json.dumps(score, sort_keys=True)
                    self._queue(platform, item, person, content, earlier.get((item.id, person.id)))

    def _score_of(self, person: Any, grades: SubmissionGrades) -> dict[str, Any]:
        """What a platform should know of a student's points, but for the time; empty if it should know nothing."""
        publication, max_points = grades.publication, grades.most(person.student)
        standing: PublishedPoints | None = grades.standing(person.student)
        if shown_to(grades.rules, person.student, datetime.now(UTC)) is Detail.NOTHING:
            standing = publication.students.get(person.student) if publication else None
            max_points = publication.max_points if publication else 0.0
        if standing is None or not max_points:
            return {}
        progress = {"gradingProgress": "PendingManual" if standing.waits else "FullyGraded"}
        points = {"scoreGiven": max(0.0, round(standing.total, 2)), "scoreMaximum": max_points}
        score = {"userId": person.sub, "activityProgress": "Completed", **progress, **points}
        arrival = grades.counting_arrival(person.student)
        if arrival:
            score["submission"] = {"submittedAt": arrival.arrived.isoformat()}
            place = f"submissions/{arrival.id}" if arrival.student == person.student else ""  # not a partner's
            score["comment"] = f"Feedback: {self.tool.address}/{place}"
        return score

    def _queue(self, platform: Registration, item: Any, person: Any, content: str, earlier: Any) -> None:
        """Let these points go out, unless they are those that did, or will, anyway."""
        time_sent = datetime.now(UTC)
        if earlier:
            if earlier.content == content:
                return
            next_time = datetime.fromisoformat(earlier.timestamp) + quirks_of(platform.family).resolution
            time_sent = max(time_sent, next_time)
        timestamp = time_sent.isoformat(timespec="milliseconds")
        values = {"content": content, "timestamp": timestamp, "state": WAITING, "problem": "", "tries": 0, "due": 0}
        self.tool.store.save(SCORES, {"item": item.id, "person": person.id}, **values)

    async def send(self) -> None:
        """Send what is due, to all platforms at once, and to each of them one after the other."""
        platforms, courses = self.tool.registrations.confirmed(), self.tool.confirmed_courses()
        queues: dict[str, list[Any]] = {}
        is_due = (SCORES.c.state == WAITING) & (SCORES.c.due <= int(time.time()))
        for score in self.tool.store.select(_SCORES_OF_ITEMS.where(is_due)):
            if score.course in courses:
                queues.setdefault(courses[score.course].registration, []).append(score)
        await asyncio.gather(*(self._send_all(platforms[key], queue) for key, queue in queues.items()))

    async def _send_all(self, platform: Registration, scores: list[Any]) -> None:
        columns: dict[int, str] = {}
        for score in scores:
            try:
                content = {**json.loads(score.content), "timestamp": score.timestamp}
                if score.item not in columns:
                    columns[score.item] = await self._find_column(platform, score, content["scoreMaximum"])
                await self._send_score(platform, columns[score.item], content)
            except PlatformError as error:
                due = int(time.time()) + min(PAUSE * 2 ** min(score.tries, 20), LONGEST_PAUSE)
                state = WAITING if error.may_pass else REFUSED
                self._note(score, state=state, problem=str(error), tries=score.tries + 1, due=due)
                if error.may_pass:
                    return  # the others would only make it worse
            else:
                self._note(score, state=ARRIVED, problem="", due=0)

    async def _send_score(self, platform: Registration, column: str, content: Mapping[str, Any]) -> None:
        text = json.dumps(quirks_of(platform.family).adapt_score(content))
        try:
            await self.tool.client.call(platform, f"{AGS}score", "POST", below(column, "scores"), OF_SCORE, text)
        except PlatformError as error:
            if error.status != 409:
                raise
            if not await self._has_arrived(platform, column, content):
                raise PlatformError("It has newer points, which somebody may have set there.", 409) from None

    def _note(self, score: Any, **values: object) -> None:
        """Write down what has come of a score, unless there are other points by now."""
        self.tool.store.change(SCORES, {"id": score.id, "timestamp": score.timestamp}, **values)

    async def _has_arrived(self, platform: Registration, column: str, content: Mapping[str, Any]) -> bool:
        """Whether these points have arrived before: we may have been cut off before we wrote that down."""
        url = below(column, "results", user_id=content["userId"])
        results = read_body(await self.tool.client.call(platform, f"{AGS}result.readonly", "GET", url, OF_RESULTS))
        for result in results if isinstance(results, list) else []:
            if is_object(result) and result.get("userId") == content["userId"]:
                points, maximum = number(result.get("resultScore")) or 0.0, number(result.get("resultMaximum")) or 1.0
                return bool(abs(points / maximum - content["scoreGiven"] / content["scoreMaximum"]) < 1e-4)
        return False

    async def _find_column(self, platform: Registration, score: Any, max_points: float) -> str:
        """The address of a column for points: the link's own, or one that we have made earlier, or a new one."""
        if score.line_item:
            return str(score.line_item)
        client, scope = self.tool.client, quirks_of(platform.family).line_item_scope
        url = below(score.line_items, resource_id=score.assignment)
        columns = read_body(await client.call(platform, scope, "GET", url, OF_ITEMS))
        entries = columns if isinstance(columns, list) else []
        ours = [entry for entry in entries if is_object(entry) and entry.get("resourceId") == score.assignment]
        if not ours:
            content = {"label": score.assignment, "scoreMaximum": max_points, "resourceId": score.assignment}
            text = json.dumps(content)
            ours = [read_object(await client.call(platform, scope, "POST", score.line_items, OF_ITEM, text))]
        address = ours[0].get("id")
        if not isinstance(address, str) or find_url_problem(address, self.tool.private_hosts):
            raise PlatformError("It does not say where its column for points is.")
        self.tool.store.change(ITEMS, {"id": score.item}, line_item=address)
        return address

    def missing(self) -> list[Any]:
        """The points that have not arrived, with their assignment and student."""
        query = _SCORES_OF_ITEMS.add_columns(PEOPLE.c.student).join(PEOPLE, SCORES.c.person == PEOPLE.c.id)
        return self.tool.store.select(query.where(SCORES.c.state != ARRIVED))

    def try_again(self) -> None:
        """Send now what has not arrived; what was refused, as points of now."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        for score in self.missing():
            timestamp = now if score.state == REFUSED else score.timestamp
            self._note(score, state=WAITING, timestamp=timestamp, tries=0, due=0)
        self.wake()


def below(url: str, name: str = "", **query: str) -> str:
    """An address below another one, which may have a query of its own."""
    address = urlsplit(url)
    path = f"{address.path.rstrip('/')}/{name}" if name else address.path
    return urlunsplit(address._replace(path=path, query=urlencode([*parse_qsl(address.query), *query.items()])))
