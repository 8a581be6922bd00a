module ironstage.test/lab-clients

go 1.25.0

require (
	github.com/gophercloud/gophercloud/v2 v2.13.0
	ironstage.test/ironstage v0.0.0
)

replace ironstage.test/ironstage => ../ironstage
