"""HAProxy and nginx with the configurations in `deploy`, in front of servers of ours."""

from itertools import zip_longest

from server import ROOT

TLS = ROOT / "tests/fixtures/tls"
NGINX_SERVER = "max_fails=1 fail_timeout=5s max_conns=1000"


class HAProxy:
    def __init__(self, program, run, folder, servers, listen):
        """Listens on `listen`, an address with its port or a Unix socket as unix:/path, as nginx has it too."""
        certificate = folder / "sudoku.pem"
        certificate.write_bytes((TLS / "server.pem").read_bytes() + (TLS / "server.key").read_bytes())
        places = {
            "192.0.2.10:443": listen.replace("unix:", "unix@"),
            "/etc/haproxy/sudoku.pem": str(certificate),
        }
        for name, number, server in zip_longest("abc", range(11, 14), servers):
            line = f"    server {name} 192.0.2.{number}:50051 port 9464\n"
            port = server and server.admin.rpartition(":")[2]
            # Fewer than three have fewer lines.
            places[line] = f"    server {name} {server.address} port {port}\n" if server else ""
        config = folder / "haproxy.cfg"
        config.write_text(put(ROOT / "deploy/haproxy/haproxy.cfg", places))
        self.listen = listen
        # A warning about the file is an error.
        self.process = run([program("haproxy"), "-dW", "-f", config])


class Nginx:
    def __init__(self, program, run, folder, servers, listen):
        places = {
            "192.0.2.10:443": listen,
            "/etc/nginx/sudoku.pem": str(TLS / "server.pem"),
            "/etc/nginx/sudoku.key": str(TLS / "server.key"),
        }
        for number, server in zip_longest(range(11, 14), servers):
            line = f"        server 192.0.2.{number}:50051 {NGINX_SERVER};\n"
            places[line] = f"        server {server.address} {NGINX_SERVER};\n" if server else ""
        config = folder / "nginx.conf"
        config.write_text(put(ROOT / "deploy/nginx/nginx.conf", places))
        self.listen = listen
        start = f"daemon off; pid {folder}/pid;"
        self.process = run([program("nginx"), "-p", folder, "-e", "stderr", "-c", config, "-g", start])


def put(file, places):
    """The text of the file with these places instead of the ones that it has for an example."""
    text = file.read_text()
    for example, place in places.items():
        assert text.count(example) == 1, f"{file}: {example}"
        text = text.replace(example, place)
    # Nothing is asked of other machines.
    assert "192.0.2." not in text
    return text
