"""What a list of tools costs beside its bytes, sent as they are to a caller who signed in alike."""
