"""The APIs of OpenAI: chat completions, responses, models. A model is a collection and a recipe."""
