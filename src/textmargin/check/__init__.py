"""What is wrong with labelled texts, before anything is trained on them: `check_data`."""
