# Written by `npm run facts`.

#: Version of ironstage that this client starts where it has to fetch one.
VERSION = '0.1.0'

#: The name under which ironstage is published, and its container image: empty where it is not.
NPM_PACKAGE = ''
CONTAINER_IMAGE = ''
