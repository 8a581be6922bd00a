module ironstage.test/gofish

go 1.25.0

require github.com/stmcginnis/gofish v0.20.0
