"""Laws of the privacy loss of one step: normal mixtures, pieces between marks, and outcomes."""
