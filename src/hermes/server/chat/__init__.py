"""The shapes of chat completions, as OpenAI and Sonar have them: what is asked, and how it is answered."""
