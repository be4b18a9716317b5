package config

// TLS has the certificate files of the API. Without them the API is plain HTTP, for a proxy.
type TLS struct {
	CertFile     string `koanf:"cert_file" doc:"PEM of the API's certificate and its chain; reloaded after a change; absent: plain HTTP, for a proxy"`
	KeyFile      string `koanf:"key_file" doc:"PEM of the certificate's key"`
	ClientCAFile string `koanf:"client_ca_file" doc:"PEM of the issuers of client certificates; all clients, including providers and browsers, then need a certificate"`
}

// Set reports whether the API is served over TLS.
func (t TLS) Set() bool { return t.CertFile != "" }

func (r *report) tls(t TLS) {
	switch {
	case t.CertFile == "" && t.KeyFile != "":
		r.add("tls.cert_file", "is required with key_file")
	case t.CertFile != "" && t.KeyFile == "":
		r.add("tls.key_file", "is required with cert_file")
	case t.CertFile == "" && t.ClientCAFile != "":
		r.add("tls.cert_file", "is required with client_ca_file: without cert_file the API is plain HTTP")
	}
}
