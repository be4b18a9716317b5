FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 GOGC=400 go build -trimpath -buildvcs=false -gcflags=all=-dwarf=false -ldflags "-s -w -X main.version=$VERSION" -o /paylatch ./cmd/paylatch

# A volume that is mounted here belongs to the serving user.
RUN mkdir /state && chown 65532:65532 /state

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /paylatch /paylatch
COPY --from=build /src/LICENSE /src/THIRD_PARTY.md /
COPY --from=build --chown=65532:65532 /state /state
USER 65532:65532
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s CMD ["/paylatch", "healthcheck"]
ENTRYPOINT ["/paylatch"]
CMD ["serve"]
