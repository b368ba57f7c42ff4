"""The program: where it is, whether it is new enough, and how it is started from Options."""
