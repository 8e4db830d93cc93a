"""Bringing published data in through the same models as our own.

| file of DIR/wwd | read by | becomes |
|---|---|---|
| WorldWideDishes_2024_June_World_Wide_Dishes.csv | `dishes.py` | dishes with places, languages, links |
| Community_Review_Generated_Dish_Images.csv | `reviews.py`, `release_form.py` | a closed campaign with its reviews |
| clip/continents, clip/descriptors_embeddings*.csv | `embeddings.py` | a finished run of *association* |
| llm/*_compared.csv, *_results.csv, *_failures.csv | `knowledge.py` | a finished run of *knowledge* |
| ../worldcuisines/kb/*.csv, where they are | `references.py` | lists that novelty is counted against |
| clip/descriptors.json, vqa_questions.json | `wordings.py` | versions named *as published* |

`importer.py` joins them; `source.py` reads files and notes bad rows; `writing.py` adds what is missing.
"""
