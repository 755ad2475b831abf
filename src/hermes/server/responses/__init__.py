"""The shapes of OpenAI's Responses: what is asked, how it is answered, and what is kept of it."""
