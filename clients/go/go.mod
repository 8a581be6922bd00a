module ironstage.test/ironstage

go 1.21
