"""The shapes that clients of OpenAI read: chat completions, responses, models. A model is a collection and a recipe."""
