module ironstage.test/example

go 1.24

require ironstage.test/ironstage v0.0.0

replace ironstage.test/ironstage => ../../clients/go
