"""Our own statements on certified privacy loss distributions; see the page certified-pld."""
