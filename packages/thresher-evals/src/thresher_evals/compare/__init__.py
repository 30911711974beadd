"""What correction is worth on a user's own documents: drafted questions, recipes beside each other, advice."""
