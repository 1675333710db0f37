// confirm
