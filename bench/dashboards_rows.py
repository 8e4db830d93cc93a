"""Rows for `bench/dashboards.py`: a platform that has been used for years, made by PostgreSQL itself.

At full size `IMAGE_COUNT`, 200,000 and a little: 15 images of each dish by three models, five opinions of each, 15
units about each image in six runs, of which one is still going.
"""

import json
from typing import Any

import numpy as np
from django.db import connection

IMAGE_COUNT = 200_010
PER_DISH = 15
OPINIONS = 5
QUESTIONS = ("Q2", "Q5", "Q7", "Q9", "Q12")
OPTIONS = ["Yes", "No", "Cannot tell"]
DIMENSIONS = 512
POOL = 5_000
WORDS = {"taste": {"positive": ["tasty", "fresh"], "negative": ["bland", "rotten"]}}

PLACES = """
CREATE TEMP TABLE place AS
SELECT row_number() OVER (ORDER BY code) - 1 AS at, code, name, continents->>0 AS continent
FROM collection_country WHERE jsonb_array_length(continents) = 1 AND continents->>0 <> 'Antarctica'
ORDER BY code LIMIT 40
"""
PEOPLE = """
INSERT INTO collection_contributor (id, consent_way, understood, alias, source, created_at)
SELECT md5('person' || n)::uuid, 'read', '[]', '', 'form', now() - n * 900 * interval '1 day' / {dishes}
FROM generate_series(0, {dishes} / 4) n
"""
DISHES = """
INSERT INTO collection_dish (id, number, source, state, created_at, changed_at, local_name, english_name, ingredients,
    regions, cultures, time_of_day, time_of_day_more, kinds, kinds_more, utensils, drink, occasions, occasions_more,
    recipe, more_details, mixed_letters, contributor_id)
SELECT n, n, 'form', CASE WHEN n % 25 = 0 THEN 'waiting' WHEN n % 100 = 7 THEN 'withdrawn' ELSE 'accepted' END,
    now() - n * 900 * interval '1 day' / {dishes}, now(), 'Dish ' || n, 'English ' || n, 'rice, salt', '', '',
    '["lunch"]', '', '["main_alone"]', '', '', '', '', '', '', '', false, md5('person' || n / 4)::uuid
FROM generate_series(1, {dishes}) n
"""
OF_DISHES = (
    """
INSERT INTO collection_dishcountry (position, name, country_id, dish_id)
SELECT 0, place.name, place.code, n FROM generate_series(1, {dishes}) n JOIN place ON place.at = n % 40""",
    """
INSERT INTO collection_dishcountry (position, name, country_id, dish_id)
SELECT 1, place.name, place.code, m FROM generate_series(1, {dishes}, 10) m JOIN place ON place.at = (m + 1) % 40""",
    """
INSERT INTO collection_dishlanguage (position, name, code, dish_id)
SELECT 0, 'Language ' || n % 130, 'l' || lpad(to_hex(n % 130), 2, '0'), n FROM generate_series(1, {dishes}) n""",
    """
INSERT INTO collection_dishcontinent (continent, dish_id)
SELECT DISTINCT place.continent, dish_id FROM collection_dishcountry JOIN place ON place.code = country_id""",
    """
INSERT INTO collection_photo (id, file, thumbnail, sha256, width, height, caption, taken_by_me, may_be_shared,
    no_people, is_photograph, state, created_at, dish_id)
SELECT md5('photo' || n)::uuid, 'photos/' || n || '.jpg', 'photos/t' || n || '.jpg', md5(n::text), 800, 600, '',
    true, true, true, true, CASE WHEN n % 20 = 0 THEN 'waiting' ELSE 'accepted' END, now() - n * interval '1 minute', n
FROM generate_series(1, {dishes}, 3) n""",
    """
INSERT INTO collection_submission (form, purpose, content_hash, receipt, device, created_at, contributor_id, dish_id)
SELECT md5('form' || n)::uuid, 'dish', '', n, CASE WHEN n % 3 = 0 THEN 'desktop' ELSE 'mobile' END, now(),
    md5('person' || n / 4)::uuid, n
FROM generate_series(1, {dishes}) n""",
    """
INSERT INTO collection_report (reason, words, hid, state, created_at, dish_id)
SELECT 'wrong', '', false, CASE WHEN n % 4 = 0 THEN 'open' ELSE 'dismissed' END, now(), n
FROM generate_series(1, {dishes}, 50) n""",
    """
INSERT INTO evaluation_subject (id, kind, name, source_key, labels, demonstration, dish_id)
SELECT n, 'dish', 'Dish ' || n, 'dish:' || n, jsonb_build_object('country', jsonb_build_array(place.name),
    'continent', jsonb_build_array(place.continent), 'language', jsonb_build_array('l' || n % 130)), false, n
FROM generate_series(1, {dishes}) n JOIN place ON place.at = n % 40""",
)
MODELS = """
INSERT INTO evaluation_model (id, slug, title, role, backend, identifier, revision, parameters, price, demonstration)
VALUES (1001, 'bench-one', 'Bench one', 'image_generator', 'sketch', 'one', '', '{}', '{}', false),
    (1002, 'bench-two', 'Bench two', 'image_generator', 'sketch', 'two', '', '{}', '{}', false),
    (1003, 'bench-three', 'Bench three', 'image_generator', 'sketch', 'three', '', '{}', '{}', false),
    (1004, 'bench-encoder', 'Bench encoder', 'encoder', 'stored', 'encoder', '', '{}', '{}', false),
    (1005, 'bench-vqa', 'Bench answers', 'vqa', 'sketch', 'answers', '', '{}', '{}', false)
"""
RUNS = """
INSERT INTO evaluation_run (id, study, study_version, slug, config, definition, state, queue, priority, demonstration,
    imported, problem, announced, heard, created_at, finished_at)
SELECT id, study, '1', 'bench-' || id, config::jsonb, '{}', state, 'cpu', 0, false, false, '', 1, 1,
    now() - interval '2 days' - id * interval '1 hour',
    CASE WHEN state = 'done' THEN now() - interval '1 day' - id * interval '1 hour' END
FROM (VALUES (1, 'generation', 'done', '{}'), (2, 'association', 'done', '{"images": "bench-1"}'),
    (3, 'colours', 'done', '{"images": "bench-1"}'), (4, 'stereotypes', 'done', '{"images": "bench-1"}'),
    (5, 'stereotypes', 'done', '{"images": "bench-1"}'), (6, 'stereotypes', 'running', '{"images": "bench-1"}'))
    AS wanted (id, study, state, config)
"""
LABELS = """
INSERT INTO evaluation_runlabel (run_id, subject_id, dimension, value)
SELECT run, n, label.dimension, label.value FROM generate_series(1, {dishes}) n JOIN place ON place.at = n % 40,
    LATERAL (VALUES ('country', place.name), ('continent', place.continent), ('language', 'l' || n % 130)) label
        (dimension, value), generate_series(1, 6) run
"""
IMAGES = """
INSERT INTO evaluation_generatedimage (id, prompt_sent, prompt_revised, seed, state, sha256, media_type, width, height,
    source_key, created_at, model_id, run_id, subject_id)
SELECT n, 'A photo of Dish ' || s, CASE WHEN n % 3 = 1 THEN 'A warm photo of Dish ' || s ELSE '' END, n, 'held',
    md5(n::text) || md5('b' || n), 'image/png', 512, 512, 'bench-1:' || n, now() - interval '1 day',
    1001 + n % 3, 1, s
FROM generate_series(1, {images}) n, LATERAL (SELECT 1 + (n - 1) / {per_dish} AS s) subject
"""
UNITS = """
INSERT INTO evaluation_unit (id, key, payload, affinity, state, deliveries, batch_id, model_id, run_id, subject_id)
SELECT {first} + n, {key}, {payload}, 'image:' || n, {state}, 1, NULL, {model}, {run}, 1 + (n - 1) / {per_dish}
FROM generate_series(1, {images}) n
"""
TEXTS = """
INSERT INTO evaluation_unit (id, key, payload, affinity, state, deliveries, batch_id, model_id, run_id, subject_id)
VALUES (%s, %s, %s, 'texts', 'done', 1, NULL, 1004, 2, NULL)
"""
OUTCOMES = """
INSERT INTO evaluation_outcome (unit_id, text, numbers, reason, circumstances, created_at, image_id, embedding_id)
SELECT {first} + n, {text}, {numbers}, CASE WHEN {state} IN ('failed', 'refused') THEN 'It did not answer.' ELSE '' END,
    '{{"seconds": 0.4, "batch": 16}}', now() - interval '1 day', {image}, {embedding}
FROM generate_series(1, {images}) n {join}
"""
ENDED = "CASE WHEN n % 97 = 0 THEN 'failed' WHEN n % 89 = 0 THEN 'refused' ELSE 'done' END"
EMBEDDINGS = """
INSERT INTO evaluation_embedding (id, preprocessing, text, dimensions, vector, image_id, model_id)
SELECT n, '', '', {dimensions}, pool.vector, n, 1004 FROM generate_series(1, {images}) n
JOIN pool ON pool.at = n % {pool}
"""
CAMPAIGNS = """
INSERT INTO review_campaign (id, slug, title, wanted_opinions, state, real_percent, repeat_percent, ethics_reference,
    source, questionnaire_id)
SELECT n + 1, 'bench-' || n, 'Bench ' || n, {opinions}, CASE WHEN n = 3 THEN 'open' ELSE 'closed' END, 5, 5, 'EC 1',
    'form', (SELECT id FROM review_questionnaire WHERE slug = 'e2' AND version = '1')
FROM generate_series(0, 3) n
"""
SHOWN = """
INSERT INTO review_campaignimage (id, country, dish_name, copy_sha256, large_sha256, opinions, campaign_id,
    image_id)
SELECT md5('shown' || n)::uuid, place.name, 'Dish ' || s, md5(n::text) || md5('c' || n), '', {opinions},
    1 + s / 40 % 4, n
FROM generate_series(1, {images}) n, LATERAL (SELECT 1 + (n - 1) / {per_dish} AS s) subject
JOIN place ON place.at = s % 40
"""
REVIEWERS = """
INSERT INTO review_reviewer (id, country, role, avoids, keep_answers, source, created_at, campaign_id)
SELECT md5('reviewer' || c || '-' || place.at || '-' || k)::uuid, place.name, 'volunteer', '[]', false, 'form',
    now() - k * interval '1 day', c + 1
FROM generate_series(0, 3) c, place, generate_series(0, 11) k
"""
OPINION = """FROM generate_series(1, {images}) n, generate_series(0, {opinions} - 1) j,
    LATERAL (SELECT 1 + (n - 1) / {per_dish} AS s) subject,
    LATERAL (SELECT md5('reviewer' || s / 40 % 4 || '-' || s % 40 || '-' || (s + j) % 12)::uuid AS id) reviewer"""
ASSIGNMENTS = (
    """
INSERT INTO review_assignment (id, repeat, state, reason, until, shown_at, handled_at, created_at, image_id,
    reviewer_id)
SELECT md5('given' || n || '-' || j)::uuid, false, CASE WHEN (n + j) % 500 = 0 THEN 'reported'
    WHEN (n + j) % 40 = 0 THEN 'skipped' ELSE 'answered' END, CASE WHEN (n + j) % 40 = 0 THEN 'unclear' ELSE '' END,
    now(), now() - interval '9 hours', now() - interval '9 hours' + (n % 50) * interval '1 second',
    now() - n * interval '1 second', md5('shown' || n)::uuid, reviewer.id """
    + OPINION
)
REVIEWS = (
    """
INSERT INTO review_review (answers, associates, familiarity, quality, food, correct_dish, match, disturbing, surplus,
    repeat, created_at, image_id, reviewer_id)
SELECT jsonb_build_object('associates', 'yes', 'familiarity', 'very', 'quality', (1 + n % 5)::text, 'food', 'yes',
        'correct_dish', 'yes', 'match', 'exact', 'checks', '["indoors", "people"]'::jsonb)
        || CASE WHEN (n + j) % 20 = 0 THEN '{{"seen": "It looks like a burnt stew."}}'::jsonb ELSE '{{}}' END,
    n % 7 > 0, CASE n % 3 WHEN 0 THEN 'not' WHEN 1 THEN 'somewhat' ELSE 'very' END, 1 + n % 5, (n * 7 + j) % 11 > 0,
    (n * 5 + j) % 3 > 0,
    CASE (n + j) % 4 WHEN 0 THEN 'exact' WHEN 1 THEN 'resembles' WHEN 2 THEN 'none' ELSE 'added' END,
    (n + j) % 13 = 0, false, false, now() - n * interval '1 second', md5('shown' || n)::uuid, reviewer.id """
    + OPINION
)
NOTES = """
INSERT INTO review_note (text, at, answer, reviewer_id)
SELECT 'A note', now(), '', id FROM review_reviewer ORDER BY id LIMIT 200
"""


# Columns that the statements above do not name get something: the platform grows, and the benchmark with it.
DEFAULTS = {
    "boolean": "false",
    "character varying": "''",
    "text": "''",
    "jsonb": "'{}'",
    "integer": "0",
    "smallint": "0",
    "timestamp with time zone": "now()",
}
LACKING = """
SELECT table_name, column_name, data_type FROM information_schema.columns
WHERE table_schema = 'public' AND table_name ~ '^(collection|evaluation|review)_' AND is_nullable = 'NO'
    AND column_default IS NULL AND is_identity = 'NO'
"""


def fill_in_defaults(cursor: Any) -> None:
    cursor.execute(LACKING)
    for table, column, kind in cursor.fetchall():
        if kind in DEFAULTS:
            cursor.execute(f'ALTER TABLE "{table}" ALTER COLUMN "{column}" SET DEFAULT {DEFAULTS[kind]}')


def fill(share: float) -> dict[str, int]:
    """Fills an empty, migrated database with this share of the full size; returns how many rows of what."""
    images = int(IMAGE_COUNT * share) // PER_DISH * PER_DISH
    sizes = {"images": images, "dishes": images // PER_DISH, "per_dish": PER_DISH, "opinions": OPINIONS}
    with connection.cursor() as cursor:
        # Keys are right by construction; checking each of them would take longer than writing the rows.
        cursor.execute("SET session_replication_role = replica; SET synchronous_commit = off")
        fill_in_defaults(cursor)
        for statement in (PLACES, PEOPLE, DISHES, *OF_DISHES, LABELS, IMAGES, CAMPAIGNS, SHOWN, REVIEWERS):
            cursor.execute(statement.format(**sizes))
        for statement in (MODELS, RUNS, NOTES):
            cursor.execute(statement)
        for statement in (ASSIGNMENTS, REVIEWS):
            cursor.execute(statement.format(**sizes))
        fill_vectors(cursor, sizes)
        fill_units(cursor, sizes)
        cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute("ANALYZE")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")
        counted = "SELECT (SELECT count(*) FROM {}), (SELECT count(*) FROM {}), (SELECT count(*) FROM {})"
        cursor.execute(counted.format("review_review", "evaluation_generatedimage", "evaluation_unit"))
        return dict(zip(("reviews", "images", "units"), cursor.fetchone(), strict=True))


def fill_vectors(cursor: object, sizes: dict[str, int]) -> None:
    """Vectors of images from a pool of random ones, and of the words."""
    random = np.random.default_rng(1)
    run = cursor.execute  # type: ignore[attr-defined]
    run("CREATE TEMP TABLE pool (at bigint, vector bytea, numbers jsonb)")
    for n in range(POOL):
        vector = random.normal(size=DIMENSIONS).astype("<f4").tobytes()
        shares = random.dirichlet(np.ones(27)).round(4).tolist()
        numbers = json.dumps({**{str(i): share for i, share in enumerate(shares)}, "colourfulness": 40.0 + n % 50})
        run("INSERT INTO pool VALUES (%s, %s, %s)", [n, vector, numbers])
    run(EMBEDDINGS.format(**sizes, dimensions=DIMENSIONS, pool=POOL))
    words = [(group, sign, word) for group, signs in WORDS.items() for sign in signs for word in signs[sign]]
    for number, (group, sign, word) in enumerate(words):
        text = f"A photo of {word} food."
        payload = {"text": text, "descriptor": word, "group": group, "sign": sign}
        key, vector = f"text:{group}:{sign}:{word}", random.normal(size=DIMENSIONS).astype("<f4").tobytes()
        place = 90_000_000 + number
        run(TEXTS, [place, key, json.dumps(payload)])
        run(
            "INSERT INTO evaluation_embedding VALUES (%s, '', %s, %s, %s, NULL, 1004)",
            [place, text, DIMENSIONS, vector],
        )
        run("INSERT INTO evaluation_outcome VALUES (%s, '', '{}', '', '{}', now(), NULL, %s, NULL)", [place, place])


def fill_units(cursor: object, sizes: dict[str, int]) -> None:
    """Fifteen units about each image: made, encoded, measured in colours, asked twelve times."""
    image = "jsonb_build_object('image', n)"
    of = {"key": "'image:' || n", "payload": image, "state": ENDED, "text": "''", "numbers": "'{}'", "image": "NULL"}
    of |= {"embedding": "NULL", "join": ""}
    pool = f"JOIN pool ON pool.at = n % {POOL}"
    jobs = [
        {**of, "run": 1, "model": "1001 + n % 3", "payload": "'{}'", "state": "'done'", "image": "n"},
        {**of, "run": 2, "model": 1004, "state": "'done'", "embedding": "n"},
        {**of, "run": 3, "model": 1005, "state": "'done'", "numbers": "pool.numbers", "join": pool},
    ]
    asked = [(4, question, shift) for question in QUESTIONS[:2] for shift in range(3)]
    asked += [(5, question, 0) for question in QUESTIONS]
    jobs += [{**of, "run": run, "model": 1005, **asking(question, shift)} for run, question, shift in asked]
    jobs.append({**of, "run": 6, "model": 1005, **asking(QUESTIONS[4], 0), "state": "'pending'"})
    for number, job in enumerate(jobs):
        first = number * 1_000_000
        cursor.execute(UNITS.format(**sizes, **job, first=first))  # type: ignore[attr-defined]
        if job["state"] != "'pending'":
            cursor.execute(OUTCOMES.format(**sizes, **job, first=first))  # type: ignore[attr-defined]


def asking(question: str, shift: int) -> dict[str, str]:
    """What differs between units of the study of stereotypes."""
    same = {
        "question": question,
        "ask": f"What of {question}?",
        "options": OPTIONS,
        "shift": shift,
        "reading": "generated",
    }
    payload = f"jsonb_build_object('image', n) || '{json.dumps(same)}'::jsonb"
    key = f"'image:' || n || ':{question}:{shift}:generated'"
    return {"key": key, "payload": payload, "text": "chr(65 + (n % 3)::int)"}
