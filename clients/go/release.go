package ironstage

// Written by `npm run facts`.
const (
	// Version of ironstage that this client starts where it has to fetch one.
	Version = "0.1.0"

	// npmPackage is the name under which ironstage is published, containerImage its image: empty where it is not.
	npmPackage     = ""
	containerImage = ""
)
