/** A certificate for localhost that no authority has signed, and its key, made for these tests and used nowhere else. */
export const selfSigned = {
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgLGNpuE+c8zya4Nm+
H0bS+iBW3nwvqtO1eTn3z+yzzcehRANCAAS1pr2P1nmoEvzl26O96InTGLEJRtpz
OFwT+NSGyjL6bA0GLQk4iavzEJl8n1xXFLXxqADlueywT7pcvoOgNU9e
-----END PRIVATE KEY-----
`,
  cert: `-----BEGIN CERTIFICATE-----
MIIBmjCCAUGgAwIBAgIUWyd3eZDu6V0p6/T6dmx+D9uS/E0wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTEwMDQyMloYDzIxMjYxMDI4
MTAwNDIyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAS1pr2P1nmoEvzl26O96InTGLEJRtpzOFwT+NSGyjL6bA0GLQk4iavz
EJl8n1xXFLXxqADlueywT7pcvoOgNU9eo28wbTAdBgNVHQ4EFgQUzHhkiCnXoA7j
HE7Ior9tkewkytIwHwYDVR0jBBgwFoAUzHhkiCnXoA7jHE7Ior9tkewkytIwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDRwAwRAIgIh3SKljq7CF1qia8AbIPUBoSe5cE2D0iKk/KStLX4CwCIHMF
sZHolZUYwZCPjK8fFcdoht/vajLChqKYhv98aorR
-----END CERTIFICATE-----
`,
};
