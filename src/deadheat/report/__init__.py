"""Results for the eye: terminal tables and pages. No arithmetic but rounding."""
