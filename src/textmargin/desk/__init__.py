"""The reading desk: people read, label, mark and name words, and see what the model makes of it at once.

All that people do is a list of acts (`acts.py`) in one file (`project.py`); what holds now is their fold (`state.py`). The file
is a table of labelled texts for every command.
"""
