"""What results leave out, kept and brought back."""
