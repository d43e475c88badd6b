"""What the mathematics that is ours rests on: pages to read, cited by guarantees and claims."""
